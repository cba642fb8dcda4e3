// Package profile says what a profile of the device's processors shows: which functions took the time, and which of
// them grew between two builds. It is pure. docs/profile.md has the rules, and how often they are wrong.
//
//	folded stacks ─▶ Parse ─▶ Tree: the flame graph
//	                      └─▶ Functions: self and total ─▶ Compare two of them, each with its time per frame ─▶ Growths
package profile
