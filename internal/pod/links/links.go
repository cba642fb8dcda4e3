package links

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/outfile"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/launch"
)

// Completion is what completes links.json in a pod.
type Completion struct {
	// Plan is links.json as the operator wrote it, of this Digest. Output is where the completed one goes.
	Plan, Digest, Output string
	// Networks says which interfaces the pod was given. Without a file the pod is on no links.
	Networks launch.NetworkStatus
	// TerminationLog is the file of the container's termination message, which gets the ports.
	TerminationLog string
}

// Complete writes links.json with what only the running pod knows. root is the pod's "/".
func (o Completion) Complete(ctx context.Context, stderr io.Writer, root fs.FS) error {
	links, err := readLinks(o.Plan, o.Digest)
	if err != nil {
		return exit.BadInput("--plan %s: %w", o.Plan, err)
	}
	if o.Networks.File == "" { // the pod is on no links
		return writeLinks(o.Output, links)
	}
	networks, err := o.Networks.Await(ctx, root)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	for _, missing := range mergeLinks(&links, networks, root) {
		fmt.Fprintf(stderr, "note: %s\n", missing)
	}
	if err := writeLinks(o.Output, links); err != nil {
		return err
	}
	message, err := json.Marshal(podPorts(root, networks, linksOf(links)))
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	leaveMessage(stderr, o.TerminationLog, message)
	return nil
}

func writeLinks(file string, links plan.Links) error {
	text, err := json.MarshalIndent(links, "", "  ")
	if err == nil {
		err = outfile.Write(file, append(text, '\n'), outfile.ForAll) // the device may run as another user
	}
	if err != nil {
		return exit.NotMeasured("--output %s: %w", file, err)
	}
	return nil
}

func linksOf(links plan.Links) []launch.Link {
	var list []launch.Link
	for _, l := range links.Links {
		list = append(list, launch.Link{Name: l.Name, Interface: l.Interface})
	}
	return list
}

func readLinks(file, digest string) (links plan.Links, err error) {
	if err := pod.ReadJSON(file, digest, &links); err != nil {
		return links, err
	}
	if links.Version != plan.LinksVersion {
		return links, fmt.Errorf("version is %q, and this linerate reads %q", links.Version, plan.LinksVersion)
	}
	return links, nil
}

// mergeLinks adds to each link what Multus reports of its interface. A MAC from the spec stays, as the device
// answers with that one. mergeLinks returns a sentence for each link that Multus doesn't report.
func mergeLinks(links *plan.Links, networks []launch.Network, root fs.FS) []string {
	var missing []string
	for i := range links.Links {
		l := &links.Links[i]
		found := false
		for _, n := range networks {
			if n.Interface != l.Interface || n.Default {
				continue
			}
			found = true
			l.Device = n.PCIAddress
			if l.MAC == "" {
				l.MAC = strings.ToLower(n.MAC)
			}
			l.Driver = launch.DriverOf(root, n.PCIAddress, n.Interface)
		}
		if !found {
			missing = append(missing, fmt.Sprintf("link %s: %s names no interface %s, so its MAC and device "+
				"stay unknown", l.Name, launch.NetworkStatusAnnotation, l.Interface))
		}
	}
	return missing
}
