package fabric_test

import (
	"encoding/json"
	"testing"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

func TestNetworkAttachment(t *testing.T) {
	text, err := fabric.NetworkAttachment("lab", "west", "linerate.dev/sriov-west")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metadata struct {
			Namespace, Name string
			Annotations     map[string]string
		}
		Spec struct{ Config string }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if m := got.Metadata; m.Namespace != "lab" || m.Name != "west" ||
		m.Annotations["k8s.v1.cni.cncf.io/resourceName"] != "linerate.dev/sriov-west" {
		t.Errorf("metadata %+v", m)
	}
	want := `{"capabilities":{"ips":true,"mac":true},"cniVersion":"1.0.0","name":"west","type":"linerate-vf"}`
	if got.Spec.Config != want {
		t.Errorf("config %s", got.Spec.Config)
	}
}
