// Package configmaps writes a run's Progress and Report to their two ConfigMaps. Only here does a runner use the
// API server, and a slow or absent one never disturbs the measurement. Progress is written beside the measurement.
// Only the latest Progress counts, and one that can't be written is dropped. The Report is written after the
// measurement, and tried until it is written.
//
//	runner ── Post ─▶ the latest ── Keep ─▶ …-progress      every write carries the resourceVersion of the one before:
//	       ── Finish ────────────────────▶ …-report        who finds another version and …-run-2 has a successor (delivery.ErrFenced)
//	its successor ───────────────────────▶ …-run-2         a marker, made before the successor writes
//
// The attempt's first runner creates the ConfigMaps, and so needs no other objects. Each write is signed with the
// runner's pod and its UID, without which the runners' admission policy refuses it.
//
// A runner reads no ConfigMap, because the operator's namespace has the keys of all attempts, and a right to read
// can't be held to a run's own names. It learns what it has to know of a document from the API server's answer to a
// dry run, which is the version that stands, who made it, and whether it is immutable.
package configmaps
