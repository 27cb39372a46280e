package task

import (
	"fmt"
	"strconv"
	"strings"
)

// kernelNames are the kernels that an expression may name, with their parameters in order. A parameter that is not given is 1, a length
// the parser's.
var kernelNames = map[string]struct {
	parameters []string
	kernel     func(p []float64) Kernel
}{
	"rbf":      {[]string{"length"}, func(p []float64) Kernel { return RBF(p[0]) }},
	"matern12": {[]string{"length"}, func(p []float64) Kernel { return Matern12(p[0]) }},
	"matern32": {[]string{"length"}, func(p []float64) Kernel { return Matern32(p[0]) }},
	"matern":   {[]string{"length"}, func(p []float64) Kernel { return Matern52(p[0]) }},
	"matern52": {[]string{"length"}, func(p []float64) Kernel { return Matern52(p[0]) }},
	"periodic": {[]string{"period", "length"}, func(p []float64) Kernel { return Periodic(p[0], p[1]) }},
	"noise":    {[]string{"variance"}, func(p []float64) Kernel { return Noise(p[0]) }},
}

// kernelForms is what an expression may hold, for errors.
const kernelForms = "rbf(length), matern12, matern32, matern52(length), periodic(period,length), noise(variance), " +
	"numbers, + and *, brackets"

// ParseKernel reads a kernel from an expression: rbf(0.5), 0.5*rbf(2) + periodic(1,0.7), (rbf + 0.1)*matern12(3). A kernel is written
// with its parameters in brackets, rbf(length=0.5) or just rbf(0.5); left out, lengths are length and others 1. A number alone is a
// constant covariance.
func ParseKernel(text string, length float64) (Kernel, error) {
	p := &kernelParser{text: text, length: length}
	k := p.sum(0)
	if p.skip(); p.err == nil && p.at < len(text) {
		p.fail("unexpected %q", text[p.at:p.at+1])
	}
	if p.err != nil {
		return nil, fmt.Errorf("task: kernel %q: %w; it is made of %s", clip(text), p.err, kernelForms)
	}
	return k, nil
}

type kernelParser struct {
	text   string
	at     int
	length float64
	err    error
}

func (p *kernelParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("at letter %d: %s", p.at+1, fmt.Sprintf(format, args...))
	}
}

func (p *kernelParser) skip() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// take consumes a letter if it comes next.
func (p *kernelParser) take(c byte) bool {
	p.skip()
	if p.at < len(p.text) && p.text[p.at] == c {
		p.at++
		return true
	}
	return false
}

// maxBrackets bounds how deep brackets may be nested.
const maxBrackets = 100

// sum reads products, and adds them.
func (p *kernelParser) sum(depth int) Kernel {
	if depth > maxBrackets {
		p.fail("more than %d brackets in each other", maxBrackets)
		return nil
	}
	k := p.product(depth)
	for p.err == nil && p.take('+') {
		a, b := k, p.product(depth)
		k = func(d float64) float64 { return a(d) + b(d) }
	}
	return k
}

func (p *kernelParser) product(depth int) Kernel {
	k := p.factor(depth)
	for p.err == nil && p.take('*') {
		a, b := k, p.factor(depth)
		k = func(d float64) float64 { return a(d) * b(d) }
	}
	return k
}

func (p *kernelParser) factor(depth int) Kernel {
	if p.take('(') {
		k := p.sum(depth + 1)
		if !p.take(')') {
			p.fail("a bracket is missing")
		}
		return k
	}
	p.skip()
	if p.at < len(p.text) && strings.IndexByte("0123456789.", p.text[p.at]) >= 0 {
		v := p.number()
		return func(float64) float64 { return v }
	}
	from := p.at
	name := p.word()
	form, ok := kernelNames[name]
	if !ok {
		p.at = from
		p.fail("%q is no kernel", clip(name))
		return nil
	}
	values := make([]float64, len(form.parameters))
	for i, parameter := range form.parameters {
		if values[i] = 1; parameter == "length" {
			values[i] = p.length
		}
	}
	if p.take('(') {
		for i := 0; p.err == nil && !p.take(')'); i++ {
			if i > 0 && !p.take(',') {
				p.fail("a comma or a bracket is missing")
			}
			p.parameter(name, form.parameters, values, i)
		}
	}
	if p.err != nil {
		return nil
	}
	return form.kernel(values)
}

// parameter reads the i-th parameter of a kernel, a number or name=number.
func (p *kernelParser) parameter(kernel string, names []string, values []float64, i int) {
	from := p.at
	if word := p.word(); word != "" {
		for i = 0; i < len(names) && names[i] != word; i++ {
		}
		if i == len(names) || !p.take('=') {
			p.at = from
			p.fail("%s takes %s", kernel, strings.Join(names, ", "))
			return
		}
	}
	if i >= len(names) {
		p.fail("%s takes %s", kernel, strings.Join(names, ", "))
		return
	}
	values[i] = p.number()
}

// word reads letters, and digits after them.
func (p *kernelParser) word() string {
	p.skip()
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at] | 0x20
		if !(c >= 'a' && c <= 'z' || p.at > from && c >= '0' && c <= '9') {
			break
		}
		p.at++
	}
	return p.text[from:p.at]
}

// number reads a positive number.
func (p *kernelParser) number() float64 {
	p.skip()
	from := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		exponent := p.at > from && p.text[p.at-1]|0x20 == 'e'
		if !(c >= '0' && c <= '9' || c == '.' || p.at > from && c|0x20 == 'e' || exponent && (c == '-' || c == '+')) {
			break
		}
		p.at++
	}
	v, err := strconv.ParseFloat(p.text[from:p.at], 64)
	if err != nil || !(v > 0) {
		p.at = from
		p.fail("need a positive number")
	}
	return v
}
