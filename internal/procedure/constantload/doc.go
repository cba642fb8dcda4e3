// Package constantload holds one load, and judges each window of it by itself. What disturbs one window voids that
// window, and the others count. It answers what no search does, whether the device carries this load for eight hours,
// and what the device loses. It claims no limit of the device.
//
//	load ┤ warm-up │ window 1 │ window 2 │ window 3 │ … │ window n │
//	     ├─────────┼──────────┼──────────┼──────────┼───┼──────────┤
//	     └─────────┴──────────┴── void ──┴──────────┴───┴──────────┴▶ time   the whole: all but void windows
package constantload
