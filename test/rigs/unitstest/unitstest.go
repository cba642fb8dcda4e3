package unitstest

import "github.com/linerate-dev/linerate/internal/units"

// Rate is a rate as people write it, such as "600kpps". It panics where the text is no rate.
func Rate(text string) units.Rate {
	r, err := units.ParseRate(text)
	if err != nil {
		panic(err)
	}
	return r
}
