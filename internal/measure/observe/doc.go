// Package observe evaluates what is read while traffic runs. It makes series of vital signs, assigns their samples
// to windows by time, and finds what was disturbed between two readings of a machine, and by whom. It is pure. The
// drivers of the generators do the reading, and no observer ever makes traffic wait.
//
//	driver ── Moment ──▶ Log.Add ─┬─▶ Log.Window: what each series was in a window
//	                              └─▶ Log.Observations: series for the Report, idle before and after
package observe
