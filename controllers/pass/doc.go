// Package pass has what the passes (reconciles) of all controllers have in common. It says how passes begin,
// when the next one is due, and what the API server's errors mean for them.
//
//	watch ──▶ queue ──▶ a controller's pass ──▶ Next: when the time has come · when what it waits for must have come · again after an error · by a watch only
package pass
