// Package losscurve fits curves of the loss ratio over the load to trials. It finds at which load a device loses a
// given share of its frames on average, its critical load, and how uncertain the trials leave that load. It is the
// Bayesian inference of draft-vpolak-bmwg-plrsearch, in numbers alone. It is pure, so that the same trials give the
// same answer.
//
//	loss ratio (log)
//	     │                  ___●  a curve has a capacity, which a device that is overloaded forwards,
//	     │               ●─'      and a spread, over which its loss sets in
//	     │             ,'
//	lossRatio ┄┄┄┄┄┄┄┄/● ◀─ many curves fit the trials more or less; each has its own critical load,
//	     │           /        and these, weighted by how well it fits, are the answer
//	     └───●───●──┴──────────▶ load
package losscurve
