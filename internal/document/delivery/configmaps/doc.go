// Package configmaps writes a run's Progress and Report to their two ConfigMaps. Only here does a runner use the API server, and a slow or absent one never
// disturbs the measurement: Progress is written beside the measurement, only the latest counts, and what can't be written is dropped; the Report is
// written after it, and tried until it is written.
//
//	runner ── Post ─▶ the latest ── Keep ─▶ …-progress      every write carries the resourceVersion of the one before:
//	       ── Finish ────────────────────▶ …-report        who finds another version and …-run-2 has a successor (delivery.ErrFenced)
//	its successor ───────────────────────▶ …-run-2         a marker, made before the successor writes
//
// The attempt's first runner creates the ConfigMaps, and so needs no other objects. Each write is signed with the runner's pod and its UID, without which the runners'
// admission policy refuses it.
//
// A runner reads no ConfigMap: in the operator's namespace are the keys of all attempts, and a right to read can't be held to a run's own names. What it has to know of a
// document it learns from what the API server answers to a dry run: the version that stands, who made it, and whether it is immutable.
package configmaps
