package suite

// CalibrationOf is the name of the calibration that a cell is held against; empty: none.
func (m *Matrix) CalibrationOf(cell int) string {
	if calibration := m.calibrationOf(cell); calibration >= 0 {
		return m.Cells[calibration].Name
	}
	return ""
}
