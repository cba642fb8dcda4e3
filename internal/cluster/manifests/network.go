package manifests

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/intake"
)

// annotationResource is where a NetworkAttachmentDefinition names the device resource of its pods.
const annotationResource = "k8s.v1.cni.cncf.io/resourceName"

// cniPlugin is the part of a CNI plugin's configuration that matters here.
type cniPlugin struct {
	Type         string          `json:"type"`
	Capabilities map[string]bool `json:"capabilities"`
	DeviceID     string          `json:"deviceID"`
	IPAM         struct {
		Type string `json:"type"`
	} `json:"ipam"`
}

// wantsDevice says that the plugin needs a device that kubelet has allocated.
func (p cniPlugin) wantsDevice() bool {
	return (p.Type == "sriov" || p.Type == "ib-sriov") && p.DeviceID == ""
}

// ReadNetwork reads a NetworkAttachmentDefinition by its annotations and its spec.config, a CNI network or list of
// plugins. An empty config is valid. Then Multus reads a file of the node, which isn't known here. The error says what
// is wrong with the definition, and the way out.
func ReadNetwork(key compile.NetworkKey, annotations map[string]string, specConfig string) (Network, error) {
	n := Network{Key: key, Resource: corev1.ResourceName(strings.TrimSpace(annotations[annotationResource]))}
	if n.Resource != "" {
		if faults := validation.IsQualifiedName(string(n.Resource)); len(faults) > 0 ||
			!strings.Contains(string(n.Resource), "/") {
			return Network{}, fmt.Errorf("network %s: its annotation %s is %q: write a device resource of the nodes, "+
				"such as vendor.io/sriov_west", key, annotationResource, n.Resource)
		}
	}
	if strings.TrimSpace(specConfig) == "" {
		return n, nil
	}
	plugins, err := readPlugins(specConfig)
	if err != nil {
		return Network{}, fmt.Errorf("network %s: its spec.config can't be read as a CNI configuration: %w", key, err)
	}
	n.Plugin = plugins[0].Type
	if n.Resource == "" && plugins[0].wantsDevice() {
		return Network{}, fmt.Errorf("network %s: its plugin %s attaches devices, and nothing says which: add the "+
			"annotation %s with the nodes' device resource", key, n.Plugin, annotationResource)
	}
	for _, p := range plugins {
		n.MAC = n.MAC || p.Capabilities["mac"]
		// The address manager static accepts, and needs, any address. The others have a range of their own.
		n.IPs = n.IPs || p.Capabilities["ips"] && p.IPAM.Type == "static"
	}
	return n, nil
}

// readPlugins reads a list of plugins, or a single one.
func readPlugins(text string) ([]cniPlugin, error) {
	var config struct {
		cniPlugin
		Plugins []cniPlugin `json:"plugins"`
	}
	if err := intake.JSON([]byte(text), &config, intake.Small); err != nil {
		return nil, err
	}
	plugins := config.Plugins
	if len(plugins) == 0 {
		plugins = []cniPlugin{config.cniPlugin}
	}
	for i, p := range plugins {
		if p.Type == "" {
			return nil, fmt.Errorf("plugin %d has no type", i)
		}
	}
	return plugins, nil
}

// generatorNetwork and dutNetwork are the networks of the generators' and the DUT's end of a link. False means that
// no pod has that end.
func generatorNetwork(input Input, link string) (Network, bool) {
	return networkOf(input, link, func(l compile.LinkNetworks) compile.NetworkKey { return l.Generator })
}

func dutNetwork(input Input, link string) (Network, bool) {
	return networkOf(input, link, func(l compile.LinkNetworks) compile.NetworkKey { return l.DUT })
}

func networkOf(input Input, link string, end func(compile.LinkNetworks) compile.NetworkKey) (Network, bool) {
	for _, l := range input.Compiled.Networks {
		if key := end(l); l.Link == link && key.Name != "" {
			n := input.Networks[key]
			n.Key = key
			return n, true
		}
	}
	return Network{}, false
}
