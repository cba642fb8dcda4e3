// Package sessions measures TCP and UDP between two ends of linerate's own through the device, by bulk transfers
// whose goodput the receiver counts. Ends are one program per link, each in a network namespace with nothing of the
// test but its link (Ends). A driver (New) sends them requests, over a connection outside of the test.
//
//	              driver (runner.Driver)
//	     JSON lines │ over TCP   │ JSON lines
//	             ┌──┴───┐     ┌──┴───┐
//	             │ west │     │ east │      ends: Serve
//	             └──┬───┘     └──┬───┘
//	connections     └── device ──┘          traffic.sessions.parallel each way, bound to address and interface
//
// Nothing goes on sending after a crash, because each transfer has a finite duration, and an end drops all
// connections when its driver's connection closes or is silent for longer than DriverSilence. Connections are dropped
// by a TCP reset, so that no kernel goes on sending what is left in a buffer.
package sessions
