'use strict';
// The errors page shows the entries that contain every word of the search, and their headings.
(function () {
  var field = document.getElementById('search');
  function search() {
    var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    var any = false;
    document.querySelectorAll('section').forEach(function (section) {
      var left = 0;
      section.querySelectorAll('article').forEach(function (entry) {
        var text = entry.textContent.toLowerCase();
        entry.hidden = !words.every(function (word) {
          return text.includes(word);
        });
        if (!entry.hidden) left++;
      });
      section.hidden = left === 0;
      any = any || left > 0;
    });
    document.getElementById('none').hidden = any;
  }
  field.addEventListener('input', search);
})();
