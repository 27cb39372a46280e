//go:build linux

// Command emulate runs a program for linux/amd64 on an emulated processor that has AVX-512, so that its kernels can be
// checked on a machine without it, which qemu cannot do:
//
//	go build -o /tmp/emulate ./emulate                                                (in asm)
//	CGO_ENABLED=0 go test -exec '/tmp/emulate -bochs bochs -kernel vmlinuz' ./simd     (in the repository's root)
//
// It boots a Linux kernel in Bochs (https://bochs.sourceforge.io, tried with 783b58fd6 of its repository
// bochs-emu/Bochs, which calls itself 3.0.devel), made with
//
//	./configure --enable-x86-64 --enable-avx --enable-evex --enable-cpu-level=6 --enable-all-optimizations \
//		--enable-pci --enable-long-phy-address --disable-a20-pin --with-nogui --disable-docbook
//
// Without --disable-a20-pin that version loads everything to address 0. The CPU model sapphire_rapids has bfloat16
// beside AVX-512, skylake_x nothing beside it; none has tiles.
//
// The guest's file system holds the program, and the folder testdata where it was started. Any kernel of a distribution
// serves that has a console on a serial port and nothing essential in modules, Debian's linux-image-cloud-amd64 among
// them. Booting takes some five seconds, and programs some 50 to 100 times their time. The guest has a clock that
// counts instructions, and one processor: it says nothing of speed, nor of what several processors see of each other.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	if os.Getpid() == 1 {
		guest()
	}
	var m machine
	flag.StringVar(&m.bochs, "bochs", "bochs", "Bochs with AVX-512")
	flag.StringVar(&m.kernel, "kernel", "/boot/vmlinuz", "Linux kernel, as a distribution installs it")
	flag.StringVar(&m.model, "cpu", "corei7_icelake_u", "a CPU model of Bochs")
	flag.IntVar(&m.memory, "memory", 2048, "the guest's memory in MB, at most 3072")
	flag.DurationVar(&m.limit, "limit", 30*time.Minute, "how long the guest may run")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "Usage: emulate [flags] PROGRAM [ARGUMENTS]\n\nRuns a static program on an emulated processor with "+
			"AVX-512, with the environment variables EQUIVCNP_*.\nExample: CGO_ENABLED=0 go test -exec 'emulate -bochs "+
			"bochs -kernel vmlinuz' ./simd")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() == 0 {
		flag.Usage()
		os.Exit(2)
	}
	code, err := m.run(flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "emulate:", err)
		code = 125
	}
	os.Exit(code)
}

// machine is what the guest is made of.
type machine struct {
	bochs, kernel, model string
	memory               int
	limit                time.Duration
}

// run returns the program's exit code.
func (m *machine) run(args []string) (code int, err error) {
	if m.memory < 512 || m.memory > 3072 {
		return 0, fmt.Errorf("-memory %d: need 512 to 3072", m.memory)
	}
	dir, err := os.MkdirTemp("", "emulate")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	size, err := m.files(dir, args)
	if err != nil {
		return 0, err
	}
	if room := int64(m.memory)<<20 - initrdAt; 2*size > room { // the guest copies it
		return 0, fmt.Errorf("%s and its testdata take %d MB, a guest of -memory %d has room for %d", args[0], size>>20, m.memory, room>>21)
	}
	if err := m.load(dir, size); err != nil {
		return 0, err
	}
	return m.boot(dir)
}

// files writes the guest's file system, and returns its size.
func (m *machine) files(dir string, args []string) (int64, error) {
	first, err := os.Executable()
	if err != nil {
		return 0, err
	}
	a, err := newArchive(filepath.Join(dir, "initrd"))
	if err != nil {
		return 0, err
	}
	for _, d := range []string{"dev", "proc", "sys", "tmp"} {
		a.dir(d)
	}
	a.add("dev/console", isDevice|0o600, nil, 5, 1)
	a.add("dev/null", isDevice|0o666, nil, 1, 3)
	a.file("init", first, 0o755)
	a.file("work/program", args[0], 0o755)
	a.tree("work/testdata", "testdata")
	list := func(name string, of []string) {
		a.add(name, isFile|0o644, []byte(strings.Join(of, "\x00")+"\x00"), 0, 0)
	}
	env := []string{"HOME=/tmp", "TMPDIR=/tmp", "PATH=/"}
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "EQUIVCNP_") {
			env = append(env, v)
		}
	}
	list("run/args", append([]string{"/work/program"}, args[1:]...))
	list("run/env", env)
	list("run/dir", []string{"/work"})
	if err := a.close(); err != nil {
		return 0, err
	}
	return a.size, nil
}

// load writes what stands in the guest's memory when it starts: the ROM, the kernel and its parameters.
func (m *machine) load(dir string, initrd int64) error {
	image, err := os.ReadFile(m.kernel)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	const header, sectors, magic, version = 0x1f1, 0x1f1, 0x202, 0x206
	if len(image) < 0x400 || string(image[magic:][:4]) != "HdrS" || le.Uint16(image[version:]) < 0x20c {
		return fmt.Errorf("%s is no Linux kernel for x86 (bzImage, boot protocol 2.12 or later)", m.kernel)
	}
	setup := (int(image[sectors]) + 1) * 512
	if image[sectors] == 0 {
		setup = 5 * 512
	}
	end := magic + int(image[0x201])
	if setup >= len(image) || end > setup || end > 0x290 {
		return fmt.Errorf("%s ends in its header", m.kernel)
	}
	p := make([]byte, 0x2000)
	copy(p[header:], image[header:end])
	p[0x210] = 0xff                          // the boot loader has no number
	le.PutUint32(p[0x218:], initrdAt)        // ramdisk_image
	le.PutUint32(p[0x21c:], uint32(initrd))  // ramdisk_size
	le.PutUint32(p[0x228:], paramsAt+0x1000) // cmd_line_ptr
	memory := [][3]uint64{{0, 0x9fc00, 1}, {kernelAt, uint64(m.memory)<<20 - kernelAt, 1}}
	p[0x1e8] = byte(len(memory)) // e820_entries
	for i, part := range memory {
		le.PutUint64(p[0x2d0+20*i:], part[0])
		le.PutUint64(p[0x2d8+20*i:], part[1])
		le.PutUint32(p[0x2e0+20*i:], uint32(part[2]))
	}
	// No devices, and as little as possible that takes time. Bochs says that it has fast short moves (FSRM) and not
	// what Linux wants to see with them, which then never returns from one.
	copy(p[0x1000:], "console=ttyS0,115200 loglevel=1 nokaslr mitigations=off acpi=off pci=off noapic nolapic nosmp "+
		"tsc=reliable random.trust_cpu=on "+
		"panic=-1 clearcpuid=fsrm rdinit=/init nowatchdog cryptomgr.notests i8042.noaux i8042.nokbd")
	for name, b := range map[string][]byte{"rom": rom(), "vga": vgaROM(), "kernel": image[setup:], "params": p} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// boot runs Bochs until the guest's first process says how the program ended, and copies the console to the standard output meanwhile.
func (m *machine) boot(dir string) (int, error) {
	console := filepath.Join(dir, "console")
	if err := syscall.Mkfifo(console, 0o600); err != nil {
		return 0, err
	}
	com, err := os.OpenFile(console, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer com.Close()
	config := fmt.Sprintf(`config_interface: textconfig
display_library: nogui
cpu: model=%s, count=1, ips=100000000, cpuid_freq=ips, reset_on_triple_fault=0
memory: guest=%d, host=%d
romimage: file=%s/rom, address=0x%x, options=none
vgaromimage: file=%s/vga
optramimage1: file=%s/kernel, address=0x%x
optramimage2: file=%s/initrd, address=0x%x
optramimage3: file=%s/params, address=0x%x
pci: enabled=1, chipset=i440fx
clock: sync=none, time0=local
com1: enabled=1, mode=file, dev=%s
log: %s/log
panic: action=fatal
error: action=report
info: action=ignore
debug: action=ignore
`, m.model, m.memory, m.memory, dir, romAt, dir, dir, kernelAt, dir, initrdAt, dir, paramsAt, console, dir)
	if err := os.WriteFile(filepath.Join(dir, "bochsrc"), []byte(config), 0o600); err != nil {
		return 0, err
	}
	ctx, stop := context.WithTimeout(context.Background(), m.limit)
	defer stop()
	cmd := exec.CommandContext(ctx, m.bochs, "-q", "-f", filepath.Join(dir, "bochsrc"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	exit := make(chan int, 1)
	go func() {
		in := bufio.NewReader(com)
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			text, status, said := strings.Cut(strings.ReplaceAll(line, "\r", ""), "\x1eexit ")
			os.Stdout.WriteString(text)
			if code, err := strconv.Atoi(strings.TrimSpace(status)); said && err == nil {
				exit <- code
				return
			}
		}
	}()
	select {
	case code := <-exit:
		stop()
		<-ended
		return code, nil
	case err := <-ended:
		if ctx.Err() != nil {
			return 0, fmt.Errorf("the guest ran longer than -limit %v", m.limit)
		}
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		return 0, errors.Join(fmt.Errorf("bochs ended before the program: %v", err), errors.New(string(log[max(0, len(log)-2000):])))
	}
}
