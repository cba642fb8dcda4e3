// Package soak estimates the load at which a device loses a small share of its frames on average, such as one of ten
// million, and how uncertain finite trials leave that load (draft-vpolak-bmwg-plrsearch). Such a device has no sharp
// limit that a search could find. Curves of the loss ratio are fitted to all trials instead, and the next trial is made
// where the curves put the answer.
//
//	load
//	 most ┤●                               ● a trial, ○ one without loss
//	      │
//	      │  ● ●   ●     ●     ●
//	      │      ○   ● ○   ● ●   ○ ● ○  ┐ critical load,
//	      │    ○         ○     ○     ○  ┘ with at least 95 %
//	least ┼────────────────────────────▶ trials, each a bit longer than the one before
package soak
