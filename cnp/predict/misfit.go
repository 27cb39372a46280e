package predict

import (
	"fmt"
	"math"

	"github.com/equivcnp/equivcnp/cnp"
)

// grey is the least deviation of a pixel's value that counts: images have whole numbers up to 255, mostly.
const grey = 1.0 / 255

// ImageMisfit says that a model knows less of the pixels of an image that it was not shown than the mean and the deviation of those that
// it was shown do. It is "" where the model knows more, and of few pixels.
//
//   - Shape: p and pixels have [C, H, W] values, mask [H, W] says which pixels were shown. NaN is no pixel.
//   - Units: pixels have those of p.
func ImageMisfit(p *cnp.Prediction[float32], pixels []float32, mask []bool) string {
	p = p.Marginals()
	var model, constant, values float64
	for first := 0; first+len(mask) <= len(pixels) && len(mask) > 0; first += len(mask) {
		channel := pixels[first : first+len(mask)]
		var shown, mean, squares float64
		for i, v := range channel {
			if y := float64(v); mask[i] && y == y {
				shown++
				old := mean
				mean += (y - mean) / shown
				squares += (y - old) * (y - mean)
			}
		}
		if shown < checkLeast {
			continue
		}
		std := max(math.Sqrt(squares/(shown-1)), grey)
		for i, v := range channel {
			if y := float64(v); !mask[i] && y == y {
				model, constant, values = model+p.LogDensityAt(first+i, y), constant+logNormal(y-mean, std), values+1
			}
		}
	}
	if values < checkValues || constant-model <= leaveNats { // NaN is behind
		return ""
	}
	return fmt.Sprintf("do not trust this completion: the pixels that the model was not shown have a log density of %.3g a value, "+
		"and %.3g by the mean and deviation of those that it was shown. Take a model that was trained on images like this one, "+
		"or calibrate this one on them", model/values, constant/values)
}
