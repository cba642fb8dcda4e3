package delivery

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// These are the keys of the ConfigMap that carries a Plan to its runner. Mounted, they are the files' names.
const (
	KeyPlan  = "plan.json.gz"
	KeySites = "sites.json"
)

// mostPlan is how many bytes a packed Plan may take. It is less than a ConfigMap holds, since the Report that
// contains the Plan has to fit, too.
const mostPlan = MaxPacked * 2 / 3

// EncodePlan is the binary data of the ConfigMap for a runner, which has the packed Plan, and where its generators
// are. The same documents make the same bytes. An error says that the Plan is too large for a ConfigMap.
func EncodePlan(p *plan.Plan, sites plan.Sites) (map[string][]byte, error) {
	if p == nil || p.Version != plan.Version || sites.Version != plan.SitesVersion {
		return nil, fmt.Errorf("encode plan: a Plan of version %q and Sites of version %q are needed", plan.Version,
			plan.SitesVersion)
	}
	document, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("encode plan: %w", err)
	}
	packed, err := pack(document)
	if err != nil {
		return nil, fmt.Errorf("pack plan: %w: use fewer or smaller streams, or fewer generators", err)
	}
	encoded, err := json.Marshal(sites)
	if err != nil {
		return nil, fmt.Errorf("encode sites: %w", err)
	}
	if size := len(packed) + len(encoded); size > mostPlan {
		return nil, fmt.Errorf("the plan takes %d bytes packed, and %d is what fits a ConfigMap together with what is measured: use fewer or smaller streams, or fewer generators",
			size, mostPlan)
	}
	return map[string][]byte{KeyPlan: packed, KeySites: encoded}, nil
}

// DecodePlan reads what EncodePlan wrote, and refuses other versions.
func DecodePlan(data map[string][]byte) (*plan.Plan, plan.Sites, error) {
	p, sites := new(plan.Plan), plan.Sites{}
	document, err := unpack(data[KeyPlan])
	if err == nil {
		err = decode(document, p, plan.Version)
	}
	if err != nil {
		return nil, plan.Sites{}, fmt.Errorf("%s: %w", KeyPlan, err)
	}
	if err := decode(data[KeySites], &sites, plan.SitesVersion); err != nil {
		return nil, plan.Sites{}, fmt.Errorf("%s: %w", KeySites, err)
	}
	return p, sites, nil
}

// ReadPlan is DecodePlan of a directory that the ConfigMap is mounted at.
func ReadPlan(dir fs.FS) (*plan.Plan, plan.Sites, error) {
	data := map[string][]byte{}
	var missing []error
	for _, key := range []string{KeyPlan, KeySites} {
		content, err := intake.TextFileOf(dir, key, maxUnpacked)
		data[key], missing = content, append(missing, err)
	}
	if err := errors.Join(missing...); err != nil {
		return nil, plan.Sites{}, err
	}
	return DecodePlan(data)
}
