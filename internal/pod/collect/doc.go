// Package collect asks servers for vital signs, on behalf of a test's observers. A server is a Prometheus
// server, an SNMP agent, a management controller, a machine's SSH server, or VPP by its socket. Each server is
// asked at the observer's own period, while traffic runs, in a goroutine of its own. Readers take the newest
// answers without waiting.
//
//	Prometheus ◀─ query ──┐
//	SNMP agent ◀─ get ────┼── Collector ── Answers ──▶ the runner, in its process or over the pods' network
//	Redfish    ◀─ GET ────┤      ▲
//	SSH        ◀─ exec ───┤      │
//	ipmitool   ◀─ run ────┤      │
//	VPP        ◀─ map ────┘      │
//	                          credentials, files of the test's author
package collect
