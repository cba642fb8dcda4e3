// A readout under the pointer: the rates of the reading at that moment, of frames or of sessions. Everything else works without scripts.
(function () {
  'use strict';
  function si(v, unit) {
    var prefixes = ['', 'k', 'M', 'G', 'T'], i = 0;
    while (Math.abs(v) >= 999.995 && i < prefixes.length - 1) { v /= 1000; i++; }
    return v.toFixed(2) + ' ' + prefixes[i] + unit;
  }
  function clock(s) {
    var m = Math.floor(s / 60), r = Math.round(s - m * 60);
    return m + ':' + (r < 10 ? '0' : '') + r;
  }
  function nearest(points, t) {
    var low = 0, high = points.length - 1;
    while (low < high) {
      var middle = (low + high) >> 1;
      if (points[middle][0] < t) { low = middle + 1; } else { high = middle; }
    }
    return points[low];
  }
  document.querySelectorAll('figure.time').forEach(function (figure) {
    var points = JSON.parse(figure.querySelector('.points').textContent) || [];
    var readout = figure.querySelector('.readout');
    if (!points.length) { return; }
    figure.querySelectorAll('svg.drawing').forEach(function (svg) {
      var cursor = svg.querySelector('.cursor'), end = Number(svg.dataset.end);
      var left = Number(svg.dataset.left), width = Number(svg.dataset.width);
      svg.addEventListener('pointermove', function (event) {
        var box = svg.getBoundingClientRect();
        var x = (event.clientX - box.left) / box.width * svg.viewBox.baseVal.width;
        if (x < left || x > left + width) { hide(); return; }
        var p = nearest(points, (x - left) / width * end);
        cursor.setAttribute('x1', x); cursor.setAttribute('x2', x); cursor.setAttribute('visibility', 'visible');
        readout.hidden = false;
        if (figure.dataset.traffic === 'sessions') {
          readout.textContent = clock(p[0]) + '  ' + p[3] + (p[1] >= 0 ? '  goodput ' + si(p[1], 'b/s') + '  ' + (figure.dataset.missing || 'retransmits') + ' ' + p[2] + ' per second' : '  not known');
          return;
        }
        readout.textContent = clock(p[0]) + '  ' + p[5] + '  intended ' + si(p[1], 'pps') + '  offered ' + si(p[2], 'pps') +
          '  received ' + si(p[3], 'pps') + '  lost ' + (p[2] > 0 ? (Math.max(0, p[2] - p[3]) / p[2] * 100).toFixed(2) + '%' : 'nothing was sent') +
          (p[4] >= 0 ? '  CPU ' + p[4].toFixed(0) + '%' : '');
      });
      svg.addEventListener('pointerleave', hide);
      function hide() { cursor.setAttribute('visibility', 'hidden'); readout.hidden = true; }
    });
  });
})();
