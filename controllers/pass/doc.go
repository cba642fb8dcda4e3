// Package pass has what the passes (reconciles) of all controllers have in common. It says how passes begin,
// when the next one is due, and what the API server's errors mean for them.
//
//	watch ──▶ queue ──▶ a controller's pass ──▶ Next ──▶ at a time, after a wait, after an error, or by a watch only
package pass
