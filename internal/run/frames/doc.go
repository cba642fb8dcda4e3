// Package frames drives generators that send frames, TRex and the software engine alike. It claims ports, proves the
// path with marked frames, measures background traffic, and carries out each step of a procedure. A driver acts and
// waits. Package measure decides the quality of a window, and package path decides what frames prove.
//
//	describe ─▶ rates ─▶ claim ─▶ address ─▶ path ─▶ silence ─▶ load ─▶ first reading    Prepare
//	hold or try (reset the device, set loads, wait, read) ─▶ window                      Measure, once for each step
//	stop ─▶ drain ─▶ totals                                                               Stop
//	give the ports back                                                                   Release
//
// Every start of traffic has a finite duration, every call a deadline, every goroutine an owner that waits for it.
package frames
