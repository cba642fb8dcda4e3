// Package constantload holds one load, and judges each window of it by itself: what disturbs one window voids that window, and the others count. It answers what no search does: does the device
// carry this load for eight hours, and what does it lose? It claims no limit of the device.
//
//	load ┤ warm-up │ window 1 │ window 2 │ window 3 │ … │ window n │
//	     ├─────────┼──────────┼──────────┼──────────┼───┼──────────┤
//	     └─────────┴──────────┴── void ──┴──────────┴───┴──────────┴▶ time      the whole: all windows but the void ones
package constantload
