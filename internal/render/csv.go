package render

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
)

// csvFormat is for spreadsheets and data frames. It writes each figure of a document, and each window, exactly and
// with its unit in the column's name. It reads the documents themselves, because a view's tables are rounded,
// signed and set side by side, for people.
//
// The columns are the same whatever the document, so that files can be put one after the other. A row leaves empty
// what it has no answer for. Lines end as Unix's do. The rest is RFC 4180.
func csvFormat() format {
	return format{name: "csv", write: func(w io.Writer, d Document, _ TextOptions) error {
		var b bytes.Buffer
		rows, columns := csv.NewWriter(&b), csvColumns()
		err := rows.Write(columns)
		for _, r := range recordsOf(d.source) {
			row := make([]string, len(columns))
			for i, name := range columns {
				row[i] = r[name]
			}
			err = cmp.Or(err, rows.Write(row))
		}
		rows.Flush()
		if err = cmp.Or(err, rows.Error()); err != nil {
			return fmt.Errorf("write csv: %w", err)
		}
		return writeAll(w, "csv", &b)
	}}
}

// csvColumns are all columns in their order. docs/cli.md says what each holds.
func csvColumns() []string {
	return []string{
		// what the row is of
		"record", "suite", "cell", "side", "product", "loadtest", "test", "repetition", "retry", "criterion",
		"generator", "window", "phase", "from", "to", "started", "finished",
		// what is thought of it
		"verdict", "judgement", "quality", "ending", "reason", "counts", "outlier", "lower_bound", "unconfirmed_runs",
		// figures
		"received_packets_per_second", "received_layer1_bits_per_second", "received_layer2_bits_per_second",
		"intended_packets_per_second", "offered_packets_per_second",
		"loss_percent", "loss_at_least_percent", "line_rate_percent", "line_rate_sum_percent",
		"runs", "spread_percent", "low_packets_per_second", "high_packets_per_second", "confidence_percent",
		"change_percent", "change_low_percent", "change_high_percent", "change_confidence_percent",
		// how a window or a generator came to them
		"load_percent", "start_seconds", "duration_seconds", "sent_packets", "returned_packets",
		"receive_error_packets", "generator_cpu_percent", "started_after_seconds",
		"summary", "message",
		// columns of sessions stand at the end, so that the others stay in their places
		"goodput_bits_per_second", "low_goodput_bits_per_second", "high_goodput_bits_per_second", "connections",
		"received_bytes", "retransmitted_segments", "retransmit_percent", "round_trip_microseconds",
		// of observers, whose units differ from row to row
		"observer", "series", "of", "observed_mean", "observed_least", "observed_most", "observed_unit",
		"observed_over_seconds",
		// of a trial that was ended before its time
		"planned_seconds",
		// of RFC 2544's forms
		"frame_bytes", "theoretical_packets_per_second", "loss_allowed_percent",
		// of sessions over UDP
		"datagrams_sent", "datagrams_received", "datagrams_lost", "datagrams_late", "datagram_loss_percent",
		"jitter_microseconds",
		// of trains
		"picoseconds_per_frame", "low_picoseconds_per_frame", "high_picoseconds_per_frame",
	}
}
