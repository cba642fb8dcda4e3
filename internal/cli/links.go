package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/exit"
	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/pod/launch"
)

// linksOptions are the flags of links.
type linksOptions struct {
	plan, output, terminationLog string
	digest                       string
	networks                     podNetworks
}

func newLinks(s Streams) *cobra.Command {
	var o linksOptions
	cmd := &cobra.Command{
		Use:     "links",
		Short:   "Complete links.json with what only the running pod knows: MAC and PCI addresses, drivers",
		Example: "  linerate links --plan /etc/linerate-static/links.json --network-status /etc/podinfo/network-status --output /etc/linerate/links.json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withTermination(o.terminationLog, completeLinks(cmd.Context(), s.Err, os.DirFS("/"), o))
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.plan, "plan", "", "links.json as the operator wrote it")
	digestFlag(f, &o.digest, "plan")
	o.networks.flags(cmd, time.Minute)
	f.StringVar(&o.output, "output", "", "where to write the completed links.json")
	terminationFlag(cmd, &o.terminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("plan")
	_ = cmd.MarkFlagRequired("output")
	return cmd
}

func completeLinks(ctx context.Context, stderr io.Writer, root fs.FS, o linksOptions) error {
	links, err := readLinks(o.plan, o.digest)
	if err != nil {
		return exit.BadInput("--plan %s: %w", o.plan, err)
	}
	if o.networks.status == "" { // the pod is on no links
		return writeLinks(o.output, links)
	}
	networks, err := o.networks.read(ctx, root)
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	for _, missing := range mergeLinks(&links, networks, root) {
		fmt.Fprintf(stderr, "note: %s\n", missing)
	}
	if err := writeLinks(o.output, links); err != nil {
		return err
	}
	message, err := json.Marshal(podPorts(root, networks, linksOf(links)))
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	writeTerminationMessage(stderr, o.terminationLog, message) // the operator reads the ports from there
	return nil
}

func writeLinks(file string, links plan.Links) error {
	out, err := openOutput(nil, file)
	if err == nil {
		err = out.finish(func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			return enc.Encode(links)
		})
	}
	if err != nil {
		return exit.NotMeasured("--output %s: %w", file, err)
	}
	return nil
}

func linksOf(links plan.Links) []launch.Link {
	var out []launch.Link
	for _, l := range links.Links {
		out = append(out, launch.Link{Name: l.Name, Interface: l.Interface})
	}
	return out
}

func readLinks(file, digest string) (links plan.Links, err error) {
	if err := readStrictly(file, digest, &links); err != nil {
		return links, err
	}
	if links.Version != plan.LinksVersion {
		return links, fmt.Errorf("version is %q, and this linerate reads %q", links.Version, plan.LinksVersion)
	}
	return links, nil
}

// mergeLinks adds to each link what Multus reports of its interface. A MAC from the spec stays: the device answers with that one.
// It returns a sentence for each link that Multus doesn't report.
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
			missing = append(missing, fmt.Sprintf("link %s: %s names no interface %s, so its MAC and device stay unknown", l.Name, launch.NetworkStatusAnnotation, l.Interface))
		}
	}
	return missing
}

// readStrictly reads a JSON document of the operator, of this digest if it has one, and refuses members that this linerate doesn't know instead of dropping them silently.
func readStrictly(file, digest string, into any) error {
	text, err := readHeld(file, digest)
	if err != nil {
		return err
	}
	return intake.StrictJSON(text, into, intake.Small)
}
