// Package path proves, before any load, that frames take the intended way. It marks a few frames of each direction,
// and judges what came back where. It builds and judges bytes. The runner sends and captures them.
//
//	generator west ──▶ device ──▶ generator east     proven
//	generator west ◀─┐                               bounced: a looped cable, or the wrong port
//	generator west ──┴────────── generator east      bypassed: nothing changed MAC and TTL
//
// A rate measured over an unproven path is a number about something else.
package path
