// Package observe evaluates what is read while traffic runs: it makes series of vital signs, assigns their samples to windows by time, and finds from two readings of a
// machine what was disturbed in between, and by whom. It is pure: the drivers of the generators do the reading, and no observer ever makes traffic wait.
//
//	driver ── Moment ──▶ Log.Add ─┬─▶ Log.Window: what each series was in a window
//	                              └─▶ Log.Observations: series for the Report, idle before and after
package observe
