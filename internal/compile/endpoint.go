package compile

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// isEndpoint says that the device is an end of the traffic itself.
func (d *device) isEndpoint() bool { return d.spec.DUT.Role == v1alpha1.RoleEndpoint }

// server is the program that is the device's end, where it isn't linerate's. It is nil elsewhere.
func (d *device) server() *plan.Server {
	e := d.spec.DUT.Endpoint
	if e == nil {
		return nil
	}
	s, text, port := &plan.Server{Application: plan.ApplicationIperf3}, string(e.Iperf3), "5201"
	if e.Iperf2 != "" {
		s.Application, text, port = plan.ApplicationIperf2, string(e.Iperf2), "5001"
	}
	if _, _, found := cutPort(text); !found {
		text += ":" + port
	}
	s.Address = text
	return s
}

// checkServer refuses what a test with a server can't be.
func (d *device) checkServer() {
	dut := specPath().Child("dut")
	if why := d.traffic.whyNoEndpoint(); why != "" {
		d.refuse(dut.Child("endpoint"), noValue, "a server's traffic is sessions: set traffic.type: Sessions")
	}
	_, port, _ := cutPort(d.server().Address)
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		d.refuse(dut.Child("endpoint"), d.server().Address, "a port is between 1 and 65535")
	}
	s, application := d.spec.Traffic.Sessions, v1alpha1.SessionApplication(d.server().Application)
	if s != nil && s.Application != "" && s.Application != application {
		d.refusef(specPath().Child("traffic", "sessions", "application"), s.Application,
			"dut.endpoint names a server of %s: leave application out", application)
	}
}

// checkServerInCluster refuses a server that the test's pods can't find, or may not send to.
func (d *device) checkServerInCluster(ls *links) {
	path := specPath().Child("dut", "endpoint")
	host, _, _ := cutPort(d.server().Address)
	host = strings.Trim(host, "[]")
	address, err := netip.ParseAddr(host)
	if len(ls.entries) == 0 { // nobody has read them yet, and what they refuse is refused already
		unread := *ls
		unread.refusals = &refusals{}
		unread.read()
		ls = &links{refusals: d.refusals, entries: unread.entries, allowedPrefixes: ls.allowedPrefixes}
	}
	switch {
	case err != nil:
		d.refuse(path, host, "a generator's pod reaches the server over its link, where no name is resolved: write its "+
			"address, such as 192.0.2.1")
	case len(ls.entries) == 0 || ls.entries[0].addresses[0].Contains(address):
	case !ls.entries[0].dut.IsValid():
		d.refusef(path, host, "the server isn't in the network of the link's generator, %s: set generator.address to a free "+
			"address beside the server, or dut.address to the next hop", ls.entries[0].addresses[0].Masked())
	default:
		ls.allow(path, netip.PrefixFrom(address, address.BitLen()))
	}
}

// checkEndpoint refuses what a device that is an end of sessions can't be, or doesn't have.
//
//	generator ──── west ────▶ dut      {from: west, to: dut}
//	          ◀─── west ─────          {from: dut, to: west}
func (d *device) checkEndpoint() {
	if !d.isEndpoint() {
		return
	}
	dut := specPath().Child("dut")
	switch spec := d.spec.DUT; {
	case spec.Endpoint != nil:
		d.checkServer()
	case d.traffic.whyNoEndpoint() != "":
		d.refuse(dut.Child("role"), spec.Role, d.traffic.whyNoEndpoint())
	case !d.isPod():
		d.refuse(dut.Child("type"), spec.Type,
			"only an end on the device counts what the device received, and linerate can't put one on a device of "+
				"type "+string(spec.Type)+
				": name a server that runs there (dut.endpoint: {iperf3: \"192.0.2.1:5201\"}), or use Reference, or Pod, "+
				"whose network namespace gets an end of linerate's")
	case spec.Reference != nil && spec.Reference.Limit != nil:
		d.refuse(dut.Child("reference", "limit"), noValue,
			"a limit is of what is forwarded, and role Endpoint forwards nothing: remove limit")
	case spec.Reference != nil && spec.Reference.Mode != nil:
		d.refuse(dut.Child("reference", "mode"), noValue,
			"a mode says how the device forwards, and role Endpoint forwards nothing: remove mode")
	}
	for i, o := range d.spec.Observers {
		if o.Type == v1alpha1.ObserverInterfaces && o.Observed == v1alpha1.ObserverOfDUT {
			d.refuse(specPath().Child("observers").Index(i).Child("observed"), o.Observed,
				"linerate doesn't read the interfaces of a device that is an end, and what its end dropped is in the "+
					"result: leave this observer out")
		}
	}
	if l := d.spec.Links[0]; l.Name == plan.DeviceEnd {
		d.refuse(specPath().Child("links").Index(0).Child("name"), l.Name,
			"directions call the device dut: give the link another name, such as west")
	}
}
