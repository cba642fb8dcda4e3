package delivery_test

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/stream"
)

// aPlan is a small Plan with its sites.
func aPlan() (*plan.Plan, plan.Sites) {
	p := &plan.Plan{
		Version: plan.Version, Engine: "Software", Test: plan.Test{Name: "t", Namespace: "lab", Attempt: 2},
		Links:      []plan.Link{{Name: "west"}, {Name: "east"}},
		Directions: []plan.Direction{{From: "west", To: "east"}},
		Generators: []plan.Generator{{Name: "generator-0", Ports: []plan.GeneratorPort{
			{Link: "west", Share: 1, ShareOf: 1, Streams: []stream.Stream{{Packet: stream.Packet{Binary: bytes.Repeat([]byte{7}, 60)}}}}, {Link: "east"}}}},
	}
	sites := plan.Sites{Version: plan.SitesVersion, Generators: []plan.Site{{Generator: "generator-0", RPC: "10.0.0.7:4501",
		PortOfLink: map[string]int{"west": 0, "east": 1}, NextHopMAC: map[string]string{"west": "02:00:00:00:00:01"}, Pod: "t-2-generator-0", Node: "n1"}}}
	return p, sites
}

func TestPlan(t *testing.T) {
	p, sites := aPlan()
	data, err := delivery.EncodePlan(p, sites)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("the Plan arrives as it was sent", func(t *testing.T) {
		gotPlan, gotSites, err := delivery.DecodePlan(data)
		if err != nil || text(t, gotPlan) != text(t, p) || !reflect.DeepEqual(gotSites, sites) {
			t.Errorf("got %+v %+v, %v", gotPlan, gotSites, err)
		}
	})
	t.Run("the Plan is read from the files of its mount", func(t *testing.T) {
		dir := fstest.MapFS{}
		for key, content := range data {
			dir[key] = &fstest.MapFile{Data: content}
		}
		if got, _, err := delivery.ReadPlan(dir); err != nil || text(t, got) != text(t, p) {
			t.Errorf("got %+v, %v", got, err)
		}
	})
	t.Run("the same documents make the same bytes", func(t *testing.T) {
		again, err := delivery.EncodePlan(p, sites)
		if err != nil || !reflect.DeepEqual(again, data) {
			t.Errorf("differs: %v", err)
		}
	})
}

func TestEncodePlanRefuses(t *testing.T) {
	t.Run("EncodePlan refuses a plan that doesn't fit a ConfigMap, with the way out", func(t *testing.T) {
		p, sites := aPlan()
		for range 200 {
			noise := make([]byte, 9000)
			_, _ = rand.Read(noise)
			p.Generators[0].Ports[0].Streams = append(p.Generators[0].Ports[0].Streams, stream.Stream{Packet: stream.Packet{Binary: noise}})
		}
		_, err := delivery.EncodePlan(p, sites)
		if err == nil || !strings.Contains(err.Error(), "use fewer") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("EncodePlan refuses documents without a version", func(t *testing.T) {
		if _, err := delivery.EncodePlan(&plan.Plan{}, plan.Sites{}); err == nil {
			t.Error("taken")
		}
	})
}

func TestDecodePlanRefuses(t *testing.T) {
	const goodSites = `{"version":"linerate.dev/sites.v1alpha1","generators":[]}`
	const goodPlan = `{"version":"linerate.dev/plan.v1alpha1"}`
	tests := map[string]struct{ plan, sites, want string }{
		"another version":       {`{"version":"linerate.dev/plan.v9","new":1}`, goodSites, "of one release"},
		"two documents":         {goodPlan + goodPlan, goodSites, "after top-level"},
		"no document":           {``, goodSites, "not JSON"},
		"sites of another kind": {goodPlan, goodPlan, "sites.json"},
		"no sites":              {goodPlan, ``, "sites.json"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := delivery.DecodePlan(map[string][]byte{delivery.KeyPlan: gz([]byte(tt.plan)), delivery.KeySites: []byte(tt.sites)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
	packed := map[string]struct {
		plan []byte
		want string
	}{
		"what isn't packed":                 {[]byte(goodPlan), "not packed"},
		"nothing":                           {nil, "not packed"},
		"what is cut off":                   {gz([]byte(goodPlan))[:20], "unpack"},
		"what carries more behind":          {append(gz([]byte(goodPlan)), 1), "something follows"},
		"a document that would fill memory": {gz(make([]byte, 65<<20)), "unpacks to more"},
	}
	for name, tt := range packed {
		t.Run(name, func(t *testing.T) {
			_, _, err := delivery.DecodePlan(map[string][]byte{delivery.KeyPlan: tt.plan, delivery.KeySites: []byte(goodSites)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q in it", err, tt.want)
			}
		})
	}
	t.Run("DecodePlan refuses a directory without the files", func(t *testing.T) {
		if _, _, err := delivery.ReadPlan(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), delivery.KeySites) {
			t.Errorf("got %v", err)
		}
	})
}

// text is a document as it is written: what is empty and what is absent are the same there.
func text(t *testing.T, document any) string {
	t.Helper()
	out, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func gz(document []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = w.Write(document)
	_ = w.Close()
	return b.Bytes()
}

func FuzzDecodePlan(f *testing.F) {
	p, sites := aPlan()
	data, err := delivery.EncodePlan(p, sites)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data[delivery.KeyPlan], data[delivery.KeySites])
	f.Add(gz([]byte(`{"version":"linerate.dev/plan.v1alpha1"}`)), []byte(`{"version":"linerate.dev/sites.v1alpha1"}`))
	f.Fuzz(func(t *testing.T, planData, sitesData []byte) {
		p, s, err := delivery.DecodePlan(map[string][]byte{delivery.KeyPlan: planData, delivery.KeySites: sitesData})
		if err == nil && (p.Version != plan.Version || s.Version != plan.SitesVersion) {
			t.Errorf("took a plan of version %q with sites of version %q", p.Version, s.Version)
		}
	})
}
