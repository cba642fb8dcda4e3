package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/collect"
)

// Whoever collects is told how much is drawn by each of the three, if it shows what they want to be shown.
func TestTheBoxTellsWhoCollects(t *testing.T) {
	secrets := t.TempDir()
	for secret, keys := range map[string]map[string]string{
		"box": {"username": "admin", "password": "calvin", "community": "strip", "token": "scraper"},
		"bmc": {"username": "admin", "password": "calvin"}, "pdu": {"community": "strip"}, "prometheus": {"token": "scraper"}, "wrong": {"token": "nobody's"},
	} {
		if err := os.Mkdir(filepath.Join(secrets, secret), 0o700); err != nil {
			t.Fatal(err)
		}
		for key, value := range keys {
			if err := os.WriteFile(filepath.Join(secrets, secret, key), []byte(value), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, err := newBox(filepath.Join(secrets, "box"), 90)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan struct{})
	go func() { defer close(answered); _ = b.answer(agent) }()
	controller, server := httptest.NewServer(http.HandlerFunc(b.redfish)), httptest.NewServer(http.HandlerFunc(b.prometheus))
	t.Cleanup(func() { controller.Close(); server.Close(); _ = agent.Close(); <-answered })
	collector := collect.Start(t.Context(), []plan.Observer{
		{Name: "box", Interval: plan.Duration(time.Second), Redfish: &plan.RedfishChassis{URL: controller.URL, Secret: "bmc"}},
		{Name: "outlet", Interval: plan.Duration(time.Second), SNMP: &plan.SNMPObject{Address: agent.LocalAddr().String(), OID: outlet, Unit: "W", Scale: "0.1", Secret: "pdu"}},
		{Name: "scraped", Interval: plan.Duration(time.Second), Prometheus: &plan.PrometheusQuery{URL: server.URL, Query: query, Unit: "W", Secret: "prometheus"}},
		{Name: "refused", Interval: plan.Duration(time.Second), Prometheus: &plan.PrometheusQuery{URL: server.URL, Query: query, Unit: "W", Secret: "wrong"}},
	}, collect.Folder(secrets))
	t.Cleanup(collector.Close)
	var all []observe.Answer
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end) && t.Context().Err() == nil; time.Sleep(5 * time.Millisecond) {
		if _, all = collector.Answers(); len(all) == 4 && all[0].At > 0 && all[1].At > 0 && all[2].At > 0 && all[3].At > 0 {
			break
		}
	}
	for _, a := range all[:3] {
		if a.Missing != "" || len(a.Numbers) == 0 || a.Numbers[0].Value != 90 || a.Numbers[0].Unit != "W" {
			t.Errorf("%+v, want 90 W", a)
		}
	}
	if want := server.URL + ": 401 Unauthorized: it doesn't take what secret wrong has"; all[3].Missing != want {
		t.Errorf("%q, want %q", all[3].Missing, want)
	}
}
