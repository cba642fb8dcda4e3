// Package sim is a generator and a device under test in memory, for tests of what drives an Engine. Config.Now is its
// clock, so that a ten-minute run takes milliseconds inside a testing/synctest bubble. Traffic is a fluid that is
// computed exactly between changes of rate, and counted in whole frames only where it is read.
//
//	generator 0 ─ port 0 ═╗        ╔═ port 1 ─ generator 0
//	generator 1 ─ port 0 ═╬═ device ╬═ port 1 ─ generator 1
//	               link "west"      link "east"
//
// It is strict. Calls that a real generator would refuse, or silently do wrong, are errors here.
package sim
