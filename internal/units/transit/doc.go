// Package transit counts how long frames were under way, in buckets of at most 1 % width from 100 ns to beyond 10
// s. It gives percentiles of all frames at a fixed amount of memory, which a program in the kernel fills as exactly
// as Go does. It has no clock and reads nothing.
//
// The buckets are logarithmic by powers of two, and linear within each (as HdrHistogram's are):
//
//	0 … 255 ns        256 buckets of 1 ns
//	256 … 511 ns      128 buckets of 2 ns
//	512 … 1023 ns     128 buckets of 4 ns
//	  …                 …
//	8.6 … 17.2 s      128 buckets of 67 ms
//	above             one bucket
//
// So a bucket is never wider than 1/128 of its lower bound (0.8 %) from 128 ns on, and 1 ns below that.
package transit
