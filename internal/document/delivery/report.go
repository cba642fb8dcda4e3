package delivery

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// KeyReport is the key of a Report in its ConfigMap.
const KeyReport = "report.json.gz"

// EncodeReport is the binary data and the annotations of the ConfigMap for a Report of this attempt. Where the
// Report is too large for one, it thins samples first and windows after them, and a Note says so. Answer, verdict
// and totals stay as they are. It doesn't change the Report itself. Final says that the run came to its own end.
func EncodeReport(
	r *report.Report, final bool, attempt int,
) (data map[string][]byte, annotations map[string]string, err error) {
	document, packed, err := fit(r, MaxPacked)
	if err != nil {
		return nil, nil, fmt.Errorf("encode report: %w", err)
	}
	e := Envelope{Digest: report.Digest(document), Ending: string(r.Ending), Attempt: attempt, Final: final}
	return map[string][]byte{KeyReport: packed}, e.Annotations(), nil
}

// DecodeReport reads what EncodeReport wrote, and refuses what is not what its envelope says.
func DecodeReport(data map[string][]byte, annotations map[string]string) (*report.Report, Envelope, error) {
	e, sealed := ReadEnvelope(annotations)
	if !sealed {
		return nil, Envelope{}, errors.New("the annotations name no report")
	}
	r, _, err := openReport(data[KeyReport], e)
	if err != nil {
		return nil, e, fmt.Errorf("%s: %w", KeyReport, err)
	}
	return r, e, nil
}

// Original is a Report as its runner wrote it.
type Original struct {
	Report   *report.Report
	Envelope Envelope
	// Packed are the Report's bytes, and Followed the order that it claims to have followed.
	Packed   []byte
	Followed Order
}

// DecodeOriginal is DecodeReport for callers that check whether the Report follows its runner's order.
func DecodeOriginal(data map[string][]byte, annotations map[string]string) (Original, error) {
	e, sealed := ReadEnvelope(annotations)
	if !sealed {
		return Original{}, errors.New("the annotations name no report")
	}
	o := Original{Envelope: e, Packed: data[KeyReport]}
	r, document, err := openReport(o.Packed, e)
	if err == nil {
		o.Report = r
		o.Followed, err = followed(document)
	}
	if err != nil {
		return Original{}, fmt.Errorf("%s: %w", KeyReport, err)
	}
	return o, nil
}

// openReport unpacks and reads a Report, and refuses one that doesn't match its envelope.
func openReport(packed []byte, e Envelope) (r *report.Report, document []byte, err error) {
	if document, err = unpack(packed); err != nil {
		return nil, nil, err
	}
	if digest := report.Digest(document); digest != e.Digest {
		return nil, nil, fmt.Errorf("its digest is %s, and the annotation %s says %s: somebody changed it", digest,
			AnnotationDigest, e.Digest)
	}
	if r, err = report.Decode(document); err != nil {
		return nil, nil, err
	}
	if string(r.Ending) != e.Ending {
		return nil, nil, fmt.Errorf("it has the ending %s, and one with the ending %s is announced", r.Ending, e.Ending)
	}
	return r, document, nil
}

func seal(r *report.Report) (document, packed []byte, err error) {
	if document, err = json.Marshal(r); err != nil {
		return nil, nil, err
	}
	packed, err = pack(document)
	return document, packed, err
}
