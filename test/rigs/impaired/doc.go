// Package impaired is a device for tests. It is a wire between two network interfaces that does to frames what real
// devices do, each impairment switchable, exact, and known to the test only. A generator, a Plan and a Report know
// nothing of it, as linerate sees a device that bridges (dut: {type: Device, forwarding: L2}).
//
//	namespace of the test    namespace of the device, which a process of its own carries frames in
//	         g0 ────────────── d0 ─▶ [ what comes in here goes through Ports[0] ] ─▶ d1
//	         g1 ────────────── d1 ─▶ [ what comes in here goes through Ports[1] ] ─▶ d0
//
// What becomes of a frame depends on the times at which frames came in, by the kernel's clock at that moment, and on
// nothing else. A machine that lets the device wait delays frames, and costs none. So one in N is exactly one in N, a
// limit lets through exactly its rate, and what the device forwards of a load that lasts can be said beforehand
// (Impairment.Forwards). Work alone takes a real processor, and so is as slow as its machine makes it.
//
// The device counts each frame, and what became of it (Device.Counts). A Report's sent, returned and lost frames can
// be compared with these counts.
//
// A program that starts devices calls Main first in its own main function, or in TestMain, because a device is that
// program, started once more.
package impaired
