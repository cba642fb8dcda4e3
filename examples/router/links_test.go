package main

import (
	"net/netip"
	"testing"
)

func TestParse(t *testing.T) {
	t.Run("addresses and the networks behind each generator are read", func(t *testing.T) {
		links, err := parse([]byte(`{"version": "linerate.dev/links.v1alpha1", "test": "x", "links": [{"name": "west", "interface": "west", "vlan": 0,
			"addresses": ["198.18.0.1/24"], "generators": [{"name": "generator-0", "address": "198.18.0.2", "networks": ["16.0.0.0/24"]}]}]}`))
		if err != nil {
			t.Fatal(err)
		}
		l := links[0]
		if l.Interface != "west" || l.Addresses[0] != netip.MustParsePrefix("198.18.0.1/24") || l.Generators[0].Networks[0] != netip.MustParsePrefix("16.0.0.0/24") ||
			l.Generators[0].Address != netip.MustParseAddr("198.18.0.2") {
			t.Errorf("read %+v", l)
		}
	})
	t.Run("no links are an error", func(t *testing.T) {
		for _, text := range []string{`{}`, `{"links": []}`, `[`} {
			if links, err := parse([]byte(text)); err == nil {
				t.Errorf("%s: %v", text, links)
			}
		}
	})
}
