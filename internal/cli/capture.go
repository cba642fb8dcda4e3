package cli

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/capture"
)

// embedCapture reads the capture that a LoadTest names by its file, in the folder of the LoadTest's own file, into
// the LoadTest.
func embedCapture(object admission.Object) error {
	pcap := object.LoadTest.Spec.Traffic.PCAP
	if pcap == nil || pcap.File == "" {
		return nil
	}
	name := pcap.File
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(object.File), name)
	}
	data, err := packCapture(name, nil)
	if err != nil {
		return object.Fault("spec.traffic.pcap.file", fmt.Sprintf("spec.traffic.pcap.file is %q: %v", pcap.File, err))
	}
	pcap.Data = data
	return nil
}

// packCapture is a capture in base64, of which only what PCAP sends is left: lengths, addresses, protocols and ports.
func packCapture(name string, stdin io.Reader) (data string, err error) {
	input := stdin
	if name != "-" || stdin == nil {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		input = f
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err == nil {
		err = errors.Join(capture.Strip(z, input), z.Close())
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), err
}
