// Package calm watches the machine while a test of the full tier measures on it, so that each published row can
// say how calm the machine was.
//
// A test that measures needs its processors when it needs them. A virtual machine may lose its processors to the
// neighbours for seconds. Then a generator sends late, a device forwards late, and a known answer is missed although
// neither is at fault. The watch distinguishes such a row from a wrong one:
//
//	row's begin ─────────────────────────── row's end
//	a real-time thread on each processor beats each 25 ms     how late was the latest beat?
//	the kernel's steal counter, each 250 ms                   what share did the host take?
//
// The watch decides nothing and plays nothing again. It knows nothing of linerate, so a fault of linerate's
// can't make it report that the machine was disturbed.
package calm
