// Package realtrex asks a TRex that really runs what the project claims of TRex. It is built with the tag trex
// only, as the project brings no TRex along. Either the test starts one, as root, from a folder that has
// _t-rex-64, on kernel interfaces with a router of the test's between them, in network namespaces of their own:
//
//	go test -tags trex -timeout 2h ./test/packets/realtrex -trex-root /opt/trex/v3.08
//
// or it asks one that runs, with a device of yours between its ports 0 and 1:
//
//	go test -tags trex -timeout 2h ./test/packets/realtrex -server 10.0.0.1:4501 -most 1000000 \
//	    -limit 'ssh root@router ./limit {pps} {burst}' -counters 'ssh root@router ./counters'
//
// The server's ports must be free and idle. The device forwards by IPv4: 198.18.0.1/24 and 16.0.0.0/24 behind
// 198.18.0.2 on port 0, 198.18.1.1/24 and 48.0.0.0/24 behind 198.18.1.2 on port 1, which TRex's own
// configuration file has for the verb ramp, too (port_info with ip and default_gw; --hdrh for latencies).
//
//   - TestProcedures measures the device with each procedure of a LoadTest and with the verb ramp, each at
//     three limits that it draws between four tenths of -most and -most. The commands set the limit and read
//     the counters of the device's ports; nobody else knows it. What is claimed must be true (test/rigs/truth),
//     and on a calm machine within 1 %.
//   - TestKilledRuns kills runs at moments that it draws, of a TRex that keeps up and of one that can't, and
//     waits until it is silent: no later than the run's last promise.
//   - The other tests compare the protocol with what internal/engine/trex expects and the scripted server
//     plays. What is said on the wire is recorded with -record, an exchange a line, as
//     internal/engine/trex/testdata has it. With -link-down and -link-up, shell commands that take the link of
//     port 0 down and up again at its other end, events of links are tried too.
//
// With -keep each row is kept in a folder, so that -run may play a few at a time; with -table the rows that are
// kept become a section of a page.
package realtrex
