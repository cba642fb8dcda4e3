package answer

import (
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Procedure is what a Plan's procedure does, and which loss of frames is too much, as in "ramp to 100% per direction in
// 10m, a step each 2s; more than 0.1% lost is too much". It is empty where the procedure does not describe itself.
func Procedure(p *plan.Plan) string {
	sentence := procedures.New(p.Procedure).Describe().Sentence
	if sentence != "" && p.Sessions == nil && !procedures.TraitsOf(p.Procedure).NamesLoss {
		sentence += "; more than " + wording.Ratio(p.Procedure.MaxLossRatio) + " lost is too much"
	}
	return sentence
}
