package main

import (
	"slices"
	"testing"
)

func TestArguments(t *testing.T) {
	got, err := arguments([]byte("- version: 2\n  interfaces: [west, east]\n  zmq_rpc_port: 4501\n  port_speed: 1000\n"), "1")
	want := []string{"linerate", "generator", "--ports", "west,east", "--listen", ":4501", "--cores", "1", "--heartbeat", "0", "--secret-file", "", "--open", "--termination-log", "/dev/null", "--speed", "1000mbps"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v, %q", err, got)
	}
	for _, text := range []string{"", "[]", "- {}", "{interfaces: [west]}"} {
		if got, err := arguments([]byte(text), "1"); err == nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}
