package main

import (
	"crypto/x509"
	"encoding/pem"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestMachinesHaveAddressesThatNoBoxHas(t *testing.T) {
	c := &cluster{Subnet: netip.MustParsePrefix("10.99.3.0/24"), Machines: []string{"gen-1", "dut-1"}}
	taken := map[string]string{c.controlAddress().String(): "control", c.outsideAddress().String(): "the host"}
	for _, n := range append(c.nodes(), c.machines()...) {
		for _, item := range []string{n.address.String(), n.pods.String()} {
			if other := taken[item]; other != "" {
				t.Errorf("%s has %s of %s", n.name, item, other)
			}
			taken[item] = n.name
		}
		if !c.Subnet.Contains(n.address) || !netip.MustParsePrefix(podNetwork).Overlaps(n.pods) {
			t.Errorf("%s has %s and pods in %s", n.name, n.address, n.pods)
		}
	}
	c.Machine = "dut-1"
	if nodes := c.nodes(); len(nodes) != 1 || nodes[0] != c.machines()[1] {
		t.Errorf("in dut-1 there are the nodes %+v", nodes)
	}
}

func TestANodeJoinsUnderANameOfItsOwn(t *testing.T) {
	for _, name := range []string{"node-1", "control", "Gen-1", "", "gen_1", "../gen"} {
		c := &cluster{Name: "x", Boxes: []box{{Name: "control"}, {Name: "node-1"}}, dir: t.TempDir()}
		if err := c.prepareMachine(name); err == nil || !strings.Contains(err.Error(), "choose a name") {
			t.Errorf("%q joins: %v", name, err)
		}
	}
}

func TestALaterNodeIsCertifiedByTheSameAuthority(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	first, err := newAuthority(now)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.save(dir); err != nil {
		t.Fatal(err)
	}
	later, err := loadAuthority(dir)
	if err != nil {
		t.Fatal(err)
	}
	issued, err := later.issue(subject{name: "system:node:gen-1", group: "system:nodes"}, now)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(issued.certificate)
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if err := certificate.CheckSignatureFrom(first.certificate); err != nil || string(later.pem) != string(first.pem) {
		t.Errorf("certified by another authority: %v", err)
	}
	if _, err := loadAuthority(t.TempDir()); err == nil {
		t.Error("there is an authority where none was saved")
	}
}
