package goals

import "math"

// Lead is by how many trials one kind must be ahead of the other to decide a load, by Sequential and for goals of an exceed ratio of one half.
const Lead = 5

func (s *search) wrongClass(target) float64 { return math.NaN() }
