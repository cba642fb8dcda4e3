package compile

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation"
	kjson "sigs.k8s.io/json"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// Attachment is an entry of Multus' list of a pod's networks, with the members that the Network Plumbing Working
// Group's multi-network standard and Multus know.
//
// A list is decoded once, strictly, and pods get what was decoded. Like encoding/json, Multus reads Namespace, or
// nameſpace, as namespace, and takes the last of two. If the author's own text were passed on, Multus could attach
// another network than the one that was checked.
type Attachment struct {
	Name      string   `json:"name"`
	Namespace string   `json:"namespace,omitempty"`
	Interface string   `json:"interface,omitempty"`
	MAC       string   `json:"mac,omitempty"`
	IPs       []string `json:"ips,omitempty"`

	InfinibandGUID string         `json:"infiniband-guid,omitempty"`
	DefaultRoute   []string       `json:"default-route,omitempty"`
	IPAMClaim      string         `json:"ipam-claim-reference,omitempty"`
	PortMappings   []PortMapping  `json:"portMappings,omitempty"`
	Bandwidth      *Bandwidth     `json:"bandwidth,omitempty"`
	CNIArguments   map[string]any `json:"cni-args,omitempty"`
}

// PortMapping is what an attachment asks the plugin portmap for.
type PortMapping struct {
	HostPort      int    `json:"hostPort"`
	ContainerPort int    `json:"containerPort"`
	Protocol      string `json:"protocol,omitempty"`
	HostIP        string `json:"hostIP,omitempty"`
}

// Bandwidth is what an attachment asks the plugin bandwidth for, in bits per second and bits.
type Bandwidth struct {
	IngressRate  int `json:"ingressRate,omitempty"`
	IngressBurst int `json:"ingressBurst,omitempty"`
	EgressRate   int `json:"egressRate,omitempty"`
	EgressBurst  int `json:"egressBurst,omitempty"`
}

// mostAttachments is how many networks of its own a pod may have, far more than any device has interfaces.
const mostAttachments = 64

// ReadAttachments reads the value of Multus' annotation, in either of its two forms. It fills in the pod's own
// namespace where an entry names none.
//
//	[{"name": "management", "namespace": "lab", "interface": "mgmt"}]
//	lab/management@mgmt, other
//
// It fails where Multus could read another network. That is so for members that appear twice or differ from Multus' own
// only in their spelling, invalid names, and text after the list.
func ReadAttachments(annotation, namespace string) ([]Attachment, error) {
	read := readShortForm
	if strings.ContainsAny(annotation, `[{"`) {
		read = readJSONForm
	}
	attachments, err := read(annotation)
	if err != nil {
		return nil, err
	}
	if len(attachments) > mostAttachments {
		return nil, fmt.Errorf("it has more than %d entries", mostAttachments)
	}
	for i := range attachments {
		a := &attachments[i]
		a.Namespace = cmp.Or(a.Namespace, namespace)
		if err := a.check(); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return attachments, nil
}

// WriteAttachments is the annotation's value for these attachments.
func WriteAttachments(attachments []Attachment) string {
	text, err := json.Marshal(attachments)
	if err != nil {
		return "" // can't happen: it was decoded from JSON
	}
	return string(text)
}

func readJSONForm(annotation string) (attachments []Attachment, err error) {
	var strict []error
	err = intake.DecodeBy(func(text []byte, target any) (err error) {
		strict, err = kjson.UnmarshalStrict(text, target)
		return err
	}, []byte(annotation), &attachments, limits)
	if err != nil {
		return nil, err
	}
	if len(strict) > 0 {
		return nil, fmt.Errorf("%w (each member once, spelt as Multus' documents spell it)", errors.Join(strict...))
	}
	return attachments, nil
}

func readShortForm(annotation string) (attachments []Attachment, err error) {
	for entry := range strings.SplitSeq(annotation, ",") {
		if len(attachments) > mostAttachments {
			break // the caller refuses the list
		}
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		var a Attachment
		a.Name, a.Interface, _ = strings.Cut(entry, "@")
		if namespace, name, found := strings.Cut(a.Name, "/"); found {
			a.Namespace, a.Name = strings.TrimSpace(namespace), strings.TrimSpace(name)
		}
		attachments = append(attachments, a)
	}
	return attachments, nil
}

// longestInterface is how many characters an interface's name may have (Linux' IFNAMSIZ, with the zero at its end).
const longestInterface = 15

// check refuses names that no object or interface can have.
func (a *Attachment) check() error {
	switch {
	case a.Name == "":
		return errors.New("it has no name")
	case len(validation.IsDNS1123Subdomain(a.Name)) > 0:
		return fmt.Errorf("%q is no name of a network", a.Name)
	case a.Namespace != "" && len(validation.IsDNS1123Label(a.Namespace)) > 0:
		return fmt.Errorf("%q is no name of a namespace", a.Namespace)
	case len(a.Interface) > longestInterface || strings.ContainsAny(a.Interface, "/@:, \t\n") ||
		!utf8.ValidString(a.Interface):
		return fmt.Errorf("%q is no name of an interface", a.Interface)
	}
	return nil
}
