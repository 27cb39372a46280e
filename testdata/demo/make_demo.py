"""Trains the small T(2) image model of this folder and writes everything else in it but README.md.

    python3 make_demo.py              train for the default number of steps and write all files
    python3 make_demo.py --steps 0    keep digit-T2.safetensors, write the other files and measure again

Needs PyTorch and numpy. The model is the paper's EquivCNP for images, at a fraction of its size. It is written down
twice: as ordinary convolutions, which are quick to train, and pair by pair as the definition has it. The two are
compared before anything else; the expected values come from the second, in float64.
"""
import argparse
import json
import math
import os
import struct
import time
import zlib

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE = 32           # side of the training images
CHANNELS = 24
BLOCKS = 3
HIDDEN, MID = 16, 8
ALPHA = 0.2         # T(2): the distance of two pixels is ALPHA * |x_i - x_j|
# Pixels lie S/(S-1) apart on S x S images. Offsets (dy, dx) with dy² + dx² <= 20 are within this radius and the next
# ones, 25, are not, for every S >= 15: no distance comes closer to it than 0.03 on images of 28 x 28 and larger.
RADIUS = 0.96
FILL = 0.0593       # the share of a 32 x 32 image's pixels that an average ball of this radius holds
FLOOR = 0.01        # least standard deviation
RATE_LO, RATE_HI = 0.01, 0.5  # context rates in training
BLUR = 0.3          # standard deviation added in the first steps of training, see train
GAIN = 5.0          # factor on the initial weights of the WeightNets' last layers
REPORT = 200        # training steps between two lines of output

# Seeds: no stream is used for two purposes. That of the shipped digits was picked because its 5 is large and bright.
SEED_MODEL, SEED_TRAIN, SEED_SHIPPED, SEED_HELD_OUT = 1, 2, 10, 4


# ---- Digits -------------------------------------------------------------------------------------------------------

# Seven segments between the corners of two stacked squares: (x, y) in units of half the width and half the height,
# y downwards.
SEGMENTS = torch.tensor([
    [[-1, -1], [1, -1]],   # a: top
    [[1, -1], [1, 0]],     # b: top right
    [[1, 0], [1, 1]],      # c: bottom right
    [[-1, 1], [1, 1]],     # d: bottom
    [[-1, 0], [-1, 1]],    # e: bottom left
    [[-1, -1], [-1, 0]],   # f: top left
    [[-1, 0], [1, 0]],     # g: middle
])
DIGITS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]
LIT = torch.tensor([[s in d for s in "abcdefg"] for d in DIGITS])


def uniform(gen, n, lo, hi):
    """n numbers [n, 1, 1] between lo and hi."""
    return lo + (hi - lo) * torch.rand(n, 1, 1, generator=gen)


def draw(labels, gen):
    """Draws digits [n] as grey images [n, 1, SIZE, SIZE] in [0, 1]: round-ended strokes with an edge one pixel wide."""
    n = len(labels)
    height = uniform(gen, n, 14, 22)
    width = height * uniform(gen, n, 0.42, 0.6)
    stroke = uniform(gen, n, 2, 4)
    angle = uniform(gen, n, -0.5, 0.5)
    ink = uniform(gen, n, 0.7, 1.0)
    centre_y, centre_x = (uniform(gen, n, SIZE / 2 - 4, SIZE / 2 + 4) for _ in range(2))

    # Pixel centres in the digit's own frame, [n, pixels].
    at = torch.arange(SIZE) + 0.5
    y, x = (v.reshape(1, -1) for v in torch.meshgrid(at, at, indexing="ij"))
    dy, dx = y - centre_y[..., 0], x - centre_x[..., 0]
    cos, sin = angle.cos()[..., 0], angle.sin()[..., 0]
    p = torch.stack([cos * dx + sin * dy, cos * dy - sin * dx], -1)[:, :, None]  # [n, pixels, 1, 2]

    # Distance of every pixel to every segment, then to the nearest one that is lit.
    half = torch.cat([width, height], 2)[:, :, None] / 2                         # [n, 1, 1, 2]
    a, b = (SEGMENTS[None, None, :, end] * half for end in (0, 1))               # [n, 1, 7, 2]
    t = (((p - a) * (b - a)).sum(-1) / ((b - a) ** 2).sum(-1)).clamp(0, 1)
    dist = (p - a - t[..., None] * (b - a)).norm(dim=-1)                         # [n, pixels, 7]
    dist = dist.masked_fill(~LIT[labels][:, None], math.inf).amin(-1)
    grey = ink[..., 0] * (stroke[..., 0] / 2 - dist + 0.5).clamp(0, 1)
    return grey.reshape(n, 1, SIZE, SIZE)


def random_digits(n, gen):
    return draw(torch.randint(10, (n,), generator=gen), gen)


def random_mask(n, gen, rate):
    """Picks the share rate [n, 1] of the pixels of n images at random, exactly as many: booleans [n, 1, SIZE, SIZE]."""
    order = torch.rand(n, SIZE * SIZE, generator=gen).argsort(1).argsort(1)
    return (order < torch.as_tensor(rate) * SIZE * SIZE).reshape(n, 1, SIZE, SIZE)


# ---- Neighbourhoods -----------------------------------------------------------------------------------------------

class DepthwiseConv(torch.autograd.Function):
    """conv2d(f, kernel, groups=c) of f [b, c, h, w] with one kernel per channel, padded to keep the size.

    PyTorch's own gradient to the kernels takes most of a training step. It is a correlation of f with the gradient,
    each channel of each image by itself, and as such again a convolution with groups, several times as fast.
    """

    @staticmethod
    def forward(ctx, f, kernel, reach):
        ctx.save_for_backward(f, kernel)
        ctx.reach = reach
        return F.conv2d(f, kernel, padding=reach, groups=f.shape[1])

    @staticmethod
    def backward(ctx, grad):
        f, kernel = ctx.saved_tensors
        b, c, h, w = f.shape
        to_f = F.conv2d(grad, kernel.flip(2, 3), padding=ctx.reach, groups=c)
        to_kernel = F.conv2d(f.reshape(1, b * c, h, w), grad.reshape(b * c, 1, h, w), padding=ctx.reach, groups=b * c)
        return to_f, to_kernel.reshape(b, *kernel.shape).sum(0), None


class Grid:
    """The neighbourhoods of a size x size image as the taps of a convolution.

    conv2d(f, k)[y, x] = sum of k[a, b] f[y + a - reach, x + b - reach]: tap (a, b) looks at the neighbour that lies at
    +(a - reach, b - reach), and the pose x_i - x_j, the query minus the neighbour, is the negative of that.
    """

    def __init__(self, size, dtype):
        step = size / (size - 1)
        self.reach = reach = int(RADIUS / ALPHA / step)
        offset = torch.arange(-reach, reach + 1, dtype=torch.float64) * step
        pose = -torch.stack(torch.meshgrid(offset, offset, indexing="ij"), -1).reshape(-1, 2)
        self.tap = (ALPHA * pose.norm(dim=1) < RADIUS).nonzero()[:, 0]
        self.pose = pose[self.tap].to(dtype)
        ball = torch.zeros(len(pose), dtype=dtype)
        ball[self.tap] = 1
        ones = torch.ones(1, 1, size, size, dtype=dtype)
        self.count = F.conv2d(ones, ball.reshape(1, 1, 2 * reach + 1, -1), padding=reach)  # neighbours in the image

    def accumulate(self, f, net):
        """sum_j w(pose_ij) f_j for f [b, c, h, w]; c is 1 (every weight meets the one channel) or net's width."""
        side = 2 * self.reach + 1
        w = net(self.pose)
        kernel = w.new_zeros(side * side, w.shape[1]).index_copy(0, self.tap, w)
        kernel = kernel.t().reshape(-1, 1, side, side)
        if f.shape[1] == 1:
            return F.conv2d(f, kernel, padding=self.reach)
        return DepthwiseConv.apply(f.contiguous(memory_format=torch.channels_last), kernel, self.reach)


class Pairs:
    """The same by the definition: every pair of pixels is looked at, the WeightNet runs on every neighbouring pair."""

    def __init__(self, size, dtype):
        axis = torch.linspace(-size / 2, size / 2, size, dtype=torch.float64)
        x = torch.cartesian_prod(axis, axis)  # [pixels, 2], row coordinate first
        self.i, self.j = (ALPHA * (x[:, None] - x[None]).norm(dim=-1) < RADIUS).nonzero().t()
        self.pose = (x[self.i] - x[self.j]).to(dtype)
        self.count = torch.bincount(self.i, minlength=size * size).reshape(1, 1, size, size).to(dtype)

    def accumulate(self, f, net):
        b, c, h, w = f.shape
        rows = f.reshape(b, c, h * w).permute(2, 0, 1)  # [pixels, b, c]
        weight = net(self.pose)
        out = rows.new_zeros(h * w, b, weight.shape[1])
        out.index_add_(0, self.i, rows[self.j] * weight[:, None])
        return out.permute(1, 2, 0).reshape(b, -1, h, w)


# ---- Model --------------------------------------------------------------------------------------------------------
# Modules are nested so that state_dict() has the tensor names of the authors' checkpoints.

class WeightNetLayer(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.linear = nn.Linear(n_in, n_out)

    def forward(self, x):
        return F.silu(self.linear(x))


class WeightNet(nn.Module):
    """Pose [pairs, 2] to weights [pairs, out]. There is a swish after the last layer too."""

    def __init__(self, out):
        super().__init__()
        self.net = nn.Sequential(WeightNetLayer(2, HIDDEN), WeightNetLayer(HIDDEN, HIDDEN), WeightNetLayer(HIDDEN, out))

    def forward(self, pose):
        return self.net(pose)


def pointwise(linear, f):
    """A Linear on the channels of f [b, c, h, w]."""
    b, c, h, w = f.shape
    rows = f.permute(0, 2, 3, 1).reshape(b * h, 1, w, c).permute(0, 3, 1, 2)  # many: small batches take a slow path
    out = F.conv2d(rows, linear.weight[:, :, None, None], linear.bias)
    return out.permute(0, 2, 3, 1).reshape(b, h, w, -1).permute(0, 3, 1, 2)


class LieConv(nn.Module):
    """One channel to CHANNELS: (linear(sum_j w(pose_ij) f_j) + bias) / n_i."""

    def __init__(self):
        super().__init__()
        self.register_buffer("r", torch.tensor(RADIUS))
        self.weightnet = WeightNet(MID)
        self.linear = nn.Linear(MID, CHANNELS)

    def forward(self, f, geometry):
        return pointwise(self.linear, geometry.accumulate(f, self.weightnet)) / geometry.count


class Depthwise(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("r", torch.tensor(RADIUS))
        self.weightnet = WeightNet(CHANNELS)

    def forward(self, f, geometry):
        return geometry.accumulate(f, self.weightnet) / geometry.count


class Separable(nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise = Depthwise()
        self.pointwise = nn.Linear(CHANNELS, CHANNELS)

    def forward(self, f, geometry):
        return pointwise(self.pointwise, self.depthwise(f, geometry))


class ResidualBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.ModuleDict({"0": Separable(), "2": Separable()})  # "1" is a ReLU

    def forward(self, f, geometry):
        h = self.conv["0"](f, geometry).relu()
        return (f + self.conv["2"](h, geometry)).relu()


class Pixelwise(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.module = nn.Linear(n_in, n_out)

    def forward(self, f, _):
        return pointwise(self.module, f)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_theta = LieConv()
        self.cnn = nn.ModuleList([Pixelwise(2 * CHANNELS, CHANNELS), *(ResidualBlock() for _ in range(BLOCKS)),
                                  Pixelwise(CHANNELS, 2)])

    def forward(self, image, mask, geometry):
        """Mean and standard deviation [b, 1, h, w]."""
        mean, std = self.network(image, mask, geometry)
        return mean, std.clamp(min=FLOOR)

    def network(self, image, mask, geometry):
        """The same before the floor. image and mask are [b, 1, h, w]; only where mask is true is image looked at."""
        density = mask.to(image.dtype)
        signal = torch.where(mask, image, torch.zeros_like(image))
        h = torch.cat([self.conv_theta(density, geometry), self.conv_theta(signal, geometry)], 1)
        for layer in self.cnn:
            h = layer(h, geometry)
        return h[:, :1], F.softplus(h[:, 1:])


CONFIG = {
    "architecture": "equivcnp-image", "group": "T(2)", "alpha": ALPHA, "lifts": 1, "dim_y": 1, "multiplicity": 1,
    "channels": [CHANNELS], "blocks": BLOCKS, "hidden": HIDDEN, "mid": MID, "no_batch_norm": True,
    "fill": FILL, "block_fill": FILL, "radius_rate": 0.5, "output": "std", "floor": FLOOR,
}


def log_likelihood(image, mean, std):
    return -0.5 * ((image - mean) / std) ** 2 - std.log() - 0.5 * math.log(2 * math.pi)


def compare_formulations():
    """Stops unless convolutions and pairs agree in values and gradients, with random weights, at two sizes."""
    torch.manual_seed(0)
    gen = torch.Generator().manual_seed(0)
    model = Model().double()
    for p in model.parameters():
        p.data *= 2  # larger than PyTorch's initial values: the outputs then vary by more than rounding hides
    for size in (13, 16):
        image = torch.rand(2, 1, size, size, generator=gen, dtype=torch.float64)
        mask = torch.rand(2, 1, size, size, generator=gen) < 0.4
        results = []
        for geometry in (Grid, Pairs):
            mean, std = model(image, mask, geometry(size, torch.float64))
            gradient = torch.autograd.grad(log_likelihood(image, mean, std).mean(), model.parameters())
            assert mean.std() > 1e-3, f"the comparison says nothing: means vary by {mean.std():.1e}"
            results.append(torch.cat([v.flatten() for v in (mean, std, *gradient)]))
        worst = (results[0] - results[1]).abs().max().item()
        assert worst < 1e-12, f"convolutions and pairs differ by {worst:.1e} at {size} x {size}"
        print(f"convolutions and pairs agree to {worst:.1e} at {size} x {size}")


# ---- Training -----------------------------------------------------------------------------------------------------

def train(steps, batch, peak):
    """Maximises the log-likelihood of all pixels.

    From the start that would be won by the many empty pixels, whose standard deviation only has to shrink, while the
    strokes' means, the visible part, wait. So a standard deviation that falls from BLUR to FLOOR in the first
    two thirds of the steps is added, in quadrature, to the predicted one: large, it makes the loss a squared error.
    """
    torch.manual_seed(SEED_MODEL)
    gen = torch.Generator().manual_seed(SEED_TRAIN)
    model, geometry = Model(), Grid(SIZE, torch.float32)
    # A ball averages 69 pixels, so with PyTorch's initial values what a convolution adds is far below its input.
    for name, p in model.named_parameters():
        if name.endswith("weightnet.net.2.linear.weight"):
            p.data *= GAIN
    adam = torch.optim.Adam(model.parameters(), lr=peak)
    warm = min(100, steps // 10)
    rate = torch.optim.lr_scheduler.LambdaLR(
        adam, lambda s: min((s + 1) / (warm + 1), 0.5 * (1 + math.cos(math.pi * s / steps)) + 1e-3))
    start, sums = time.time(), torch.zeros(2)
    for step in range(1, steps + 1):
        image = random_digits(batch, gen)
        mask = random_mask(batch, gen, uniform(gen, batch, RATE_LO, RATE_HI)[..., 0])
        mean, std = model.network(image, mask, geometry)
        done, blur = 1.5 * step / steps, 0.0
        if done < 1:
            blur = BLUR * (FLOOR / BLUR) ** done
            std = (std ** 2 + blur ** 2).sqrt()
        loss = -log_likelihood(image, mean, std.clamp(min=FLOOR)).mean()
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        adam.step()
        rate.step()
        sums += torch.stack([-loss.detach(), ((image - mean.detach()) ** 2).mean()]) / REPORT
        if step % REPORT == 0:
            print(f"step {step}: log-likelihood {sums[0]:.3f} per pixel (blur {blur:.3f}), "
                  f"squared error {sums[1]:.4f}, {time.time() - start:.0f} s", flush=True)
            sums.zero_()
    return model


# ---- Files --------------------------------------------------------------------------------------------------------

DTYPES = {"float32": "F32", "uint8": "U8"}


def write_safetensors(name, tensors, metadata):
    """Writes numpy arrays; the length of the JSON header is padded with blanks to a multiple of 8."""
    head, data = {"__metadata__": metadata}, b""
    for key, v in tensors.items():
        raw = np.ascontiguousarray(v).astype(v.dtype.newbyteorder("<")).tobytes()
        head[key] = {"dtype": DTYPES[v.dtype.name], "shape": list(v.shape),
                     "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


def read_safetensors(name):
    with open(os.path.join(HERE, name), "rb") as f:
        head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    head.pop("__metadata__", None)
    return {key: torch.from_numpy(np.frombuffer(data[slice(*t["data_offsets"])], "<f4").reshape(t["shape"]).copy())
            for key, t in head.items()}


def write_png(name, grey):
    """Writes bytes [h, w] as an 8-bit grey PNG, one IDAT chunk, no filter."""
    h, w = grey.shape

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + grey[y].tobytes() for y in range(h))
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 8, 0, 0, 0, 0)) +
                chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def write_expected(model):
    """The picture of digit.png with a quarter of its pixels, another with none of them and a third with all."""
    gen = torch.Generator().manual_seed(SEED_SHIPPED)
    grey = (draw(torch.tensor([5, 2, 8]), gen) * 255).round()
    write_png("digit.png", grey[0, 0].numpy().astype(np.uint8))
    image = grey / 255  # what a reader of the PNG gets
    mask = random_mask(3, gen, torch.tensor([[0.25], [0.0], [1.0]]))
    with torch.no_grad():
        mean, std = model(image.double(), mask, Pairs(SIZE, torch.float64))
        again = model(image.double(), mask, Grid(SIZE, torch.float64))
    assert max((a - b).abs().max() for a, b in zip((mean, std), again)) < 1e-12
    write_safetensors("expected.safetensors", {
        "image": image.numpy(), "mask": mask.numpy().astype(np.uint8),
        "mean": mean.float().numpy(), "std": std.float().numpy(),
    }, {"what": "image 0 is digit.png with 25 % of its pixels observed, image 1 has none observed, image 2 all; "
                "mean and std by make_demo.py in float64, rounded"})


def write_curve():
    """Twelve points of a smooth curve on [-2, 2], for equivcnp regress."""
    x = np.random.default_rng(SEED_SHIPPED).uniform(-2, 2, 12)
    x.sort()
    y = 0.9 * np.sin(1.8 * x + 0.4) + 0.5 * np.cos(0.9 * x - 1)
    with open(os.path.join(HERE, "curve.csv"), "w", newline="\n") as f:
        f.write("x,y\n" + "".join(f"{a:.4f},{b:.4f}\n" for a, b in zip(x, y)))


# ---- Measurement --------------------------------------------------------------------------------------------------

def nearest_observed(image, mask):
    """Every pixel gets the value of the observed pixel nearest to it, the first in row order among equals."""
    at = torch.arange(SIZE, dtype=torch.float32)
    x = torch.cartesian_prod(at, at)
    dist = torch.cdist(x, x)
    out = torch.empty_like(image)
    for k in range(len(image)):
        near = dist.masked_fill(~mask[k].reshape(1, -1), math.inf).argmin(1)
        out[k] = image[k].flatten()[near].reshape(1, SIZE, SIZE)
    return out


def measure(model, n):
    """Scores on digits that were never trained on, averaged over all pixels and over the unobserved ones."""
    geometry = Grid(SIZE, torch.float32)
    gen = torch.Generator().manual_seed(SEED_HELD_OUT)
    image = random_digits(n, gen)
    for rate in (0.05, 0.1, 0.25, 0.5):
        mask = random_mask(n, gen, torch.full((n, 1), rate))
        with torch.no_grad():
            parts = [model(image[lo:lo + 50], mask[lo:lo + 50], geometry) for lo in range(0, n, 50)]
        mean, std = (torch.cat(v) for v in zip(*parts))
        # Baselines: mean and standard deviation of the image's observed pixels for all of them; and the nearest
        # observed pixel, with the one standard deviation that suits all images best, which it takes from the truth.
        seen = mask.sum((1, 2, 3), keepdim=True)
        flat = (image * mask).sum((1, 2, 3), keepdim=True) / seen
        spread = (((image - flat) ** 2 * mask).sum((1, 2, 3), keepdim=True) / seen).sqrt().clamp(min=FLOOR)
        near = nearest_observed(image, mask)
        best = ((image - near) ** 2).mean().sqrt()
        for who, m, s in (("model", mean, std), ("mean of observed", flat, spread), ("nearest observed", near, best)):
            ll = log_likelihood(image, m, s)
            err = (image - m) ** 2
            per_image = ll.mean((1, 2, 3))
            print(f"rate {rate:.2f}  {who:17s} log-likelihood {per_image.mean():7.4f} +- {per_image.std():.4f}, "
                  f"unobserved {ll[~mask].mean():7.4f};  "
                  f"squared error {err.mean():.5f}, unobserved {err[~mask].mean():.5f}")


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--steps", type=int, default=12000, help="training steps; 0 keeps the weights that are here")
    p.add_argument("--batch", type=int, default=8, help="images per step")
    p.add_argument("--rate", type=float, default=2e-3, help="Adam's largest step size")
    p.add_argument("--measure", type=int, default=500, help="held-out digits to measure on")
    a = p.parse_args()
    torch.set_num_threads(1)  # sums in one order: equal runs give equal files
    compare_formulations()
    if a.steps > 0:
        state = train(a.steps, a.batch, a.rate).state_dict()
        write_safetensors("digit-T2.safetensors", {k: v.numpy() for k, v in state.items()},
                          {"equivcnp.format": "1", "equivcnp.config": json.dumps(CONFIG, separators=(",", ":"))})
    model = Model()
    model.load_state_dict(read_safetensors("digit-T2.safetensors"))
    model.double()  # the stored float32 weights, widened
    write_expected(model)
    write_curve()
    measure(model.float(), a.measure)


if __name__ == "__main__":
    main()
