'use strict';
// Extensions of Swagger UI. `request` gives each execution of an example an Idempotency-Key of its own, as each sample gets one, and replaces
// the examples' ids by the latest ids; `response` remembers those; `plugin` replaces how Swagger UI resolves references
// and searches operations, shortens what it says of schemas and headers, puts the answers that are errors behind a line that opens them, and shows code samples;
// `complete` authorizes with the demo's keys, where the server offers them to this browser. Served with `heraldPage`
// before it: the examples' ids as the served description shows them, and names of the schemes.
(function () {
  var examples = window.heraldPage.examples;
  var made = {};

  function uuid() {
    // randomUUID is missing where the page comes over plain HTTP from another machine.
    if (crypto.randomUUID) return crypto.randomUUID();
    var bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 15) | 64;
    bytes[8] = (bytes[8] & 63) | 128;
    var hex = Array.from(bytes, function (byte) {
      return byte.toString(16).padStart(2, '0');
    }).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  function withMade(text, names) {
    names.forEach(function (name) {
      if (made[name] !== undefined) text = text.split(examples[name]).join(made[name]);
    });
    return text;
  }

  function request(sent) {
    // The description names where Herald is reached for others; this page calls the service that it came from.
    var called = new URL(sent.url, location.href);
    var own = new URL(location.href).origin;
    if (called.origin !== own) sent.url = own + called.pathname + called.search;
    var header = 'Idempotency-Key';
    if (sent.headers && sent.headers[header] === examples.key) sent.headers[header] = uuid();
    leaveTypeToHerald(sent.body);
    // What was sent cannot be marked as read: the demo's example is a message of a customer.
    if (!sent.url.endsWith('/read'))
      sent.url = withMade(sent.url, ['message', 'media', 'delivery', 'replay', 'destination', 'optOut', 'otp']);
    if (typeof sent.body === 'string') sent.body = withMade(sent.body, ['otp', 'otpCode']);
    return sent;
  }

  // Swagger UI fills in the first word of a list, here "image"; Herald detects a file's type from its content.
  function leaveTypeToHerald(form) {
    if (!form || typeof form.get !== 'function') return;
    var file = form.get('file');
    if (form.get('type') === 'image' && file && !file.type.startsWith('image/')) form.delete('type');
  }

  function remember(path, data) {
    if (path.endsWith('/messages') && data.id) made.message = data.id;
    if (path.endsWith('/media') && data.id) made.media = data.id;
    if (path.endsWith('/opt-outs') && data.id) made.optOut = data.id;
    if (path.endsWith('/webhook/replay')) made.replay = data.id;
    if (path.endsWith('/destinations') && data.id) made.destination = data.id;
    if (path.endsWith('/otp/send')) {
      made.otp = data.id;
      if (data.test_code) made.otpCode = data.test_code;
    }
    var attempts = path.endsWith('/webhook')
      ? data.recent_deliveries
      : path.endsWith('/webhook/deliveries')
        ? data
        : [];
    if (attempts && attempts[0]) made.delivery = attempts[0].id;
  }

  function response(received) {
    try {
      var body = JSON.parse(received.text);
      if (received.ok && body.data) remember(new URL(received.url, location.href).pathname, body.data);
    } catch {
      // An answer without JSON has made nothing.
    }
    return received;
  }

  function authorize(scheme, key) {
    var place = 'herald-demo-' + scheme;
    var known = window.ui.getState().getIn(['auth', 'authorized', scheme, 'value']);
    // A key that was entered by hand stays; one of an earlier demo is invalid.
    if (known && known !== localStorage.getItem(place)) return;
    window.ui.preauthorizeApiKey(scheme, key);
    localStorage.setItem(place, key);
  }

  function say(text) {
    var info = document.querySelector('.swagger-ui .info');
    if (!info || document.getElementById('herald-demo')) return;
    var note = document.createElement('p');
    note.id = 'herald-demo';
    note.textContent = text;
    info.appendChild(note);
  }

  function complete() {
    void fetch('/docs/demo.json')
      .then(function (answer) {
        return answer.status === 200 ? answer.json() : null;
      })
      .then(function (demo) {
        if (!demo) return;
        authorize(window.heraldPage.keyScheme, demo.api_key);
        authorize(window.heraldPage.otpScheme, demo.otp_sandbox_key);
        say('Demo workspace: you are authorized with its keys. Open an operation, press "Try it out", then "Execute".');
      });
  }

  // Of OpenAPI 3.1 Swagger UI resolves the whole description for each operation that is opened, which takes more than a
  // second. All references of this one stand inside it.
  function resolved(node, root, base, within) {
    if (node === null || typeof node !== 'object') return node;
    if (Array.isArray(node))
      return node.map(function (item) {
        return resolved(item, root, base, within);
      });
    var copy = {};
    var ref = typeof node.$ref === 'string' && within.indexOf(node.$ref) === -1 ? node.$ref : null;
    if (ref !== null)
      Object.assign(copy, resolved(at(root, ref), root, base, within.concat(ref)), { $$ref: base + ref });
    Object.keys(node).forEach(function (key) {
      if (key !== '$ref' || ref === null) copy[key] = resolved(node[key], root, base, within);
    });
    return Array.isArray(copy.allOf) ? asOne(copy) : copy;
  }

  // To be read: parts that hold at once as one object, each form of the one with what all forms have.
  function asOne(schema) {
    var whole = Object.assign({}, schema);
    delete whole.allOf;
    delete whole.unevaluatedProperties;
    return schema.allOf.reduce(joined, whole);
  }

  function joined(one, other) {
    var both = Object.assign({}, other, one);
    if (one.properties || other.properties) both.properties = Object.assign({}, one.properties, other.properties);
    if (one.required || other.required) both.required = (one.required || []).concat(other.required || []);
    var forms = one.anyOf || other.anyOf;
    if (!forms || !both.properties) return both;
    return {
      title: both.title,
      description: both.description,
      anyOf: forms.map(function (form) {
        return joined(form, { type: 'object', properties: both.properties, required: both.required });
      }),
    };
  }

  function isObject(schema) {
    return (
      schema &&
      typeof schema === 'object' &&
      (schema.type === 'object' || (schema.anyOf || schema.oneOf || []).some(isObject))
    );
  }

  /** Of which type a schema is said to be: of twenty forms that are all objects, `object`. */
  function shortType(schema) {
    if (!schema || typeof schema !== 'object') return schema;
    var forms = schema.anyOf || schema.oneOf;
    if (Array.isArray(forms) && forms.every(isObject)) return { type: 'object' };
    return schema.items ? Object.assign({}, schema, { items: shortType(schema.items) }) : schema;
  }

  function at(root, ref) {
    return ref
      .slice(2)
      .split('/')
      .reduce(function (node, part) {
        return node[part.replace(/~1/g, '/').replace(/~0/g, '~')];
      }, root);
  }

  function resolveSubtree(spec, path, options) {
    var node = path.reduce(function (inner, part) {
      return inner === undefined ? inner : inner[part];
    }, spec);
    var base = options.baseDoc || '';
    return Promise.resolve({ errors: [], spec: node === undefined ? null : resolved(node, spec, base, []) });
  }

  /** Whether an operation has each word of a search: in its section, address, title or text. */
  function searched(phrase, section) {
    var words = phrase.toLowerCase().split(/\s+/).filter(Boolean);
    return function (method, path, operation) {
      var text = [section, method, path, operation.get('summary'), operation.get('description')];
      var known = text.join(' ').toLowerCase();
      return words.every(function (word) {
        return known.includes(word);
      });
    };
  }

  /** Swagger UI's own search knows only sections. */
  function opsFilter(sections, phrase) {
    return sections
      .map(function (section, name) {
        var matches = searched(phrase, name);
        return section.update('operations', function (operations) {
          return operations.filter(function (one) {
            return matches(one.get('method'), one.get('path'), one.get('operation'));
          });
        });
      })
      .filter(function (section) {
        return section.get('operations').size > 0;
      });
  }

  var LANGUAGE = 'herald-sample-language';
  /** How Swagger UI colours them; it has no colours of its own for Python. */
  var COLOURS = { curl: 'bash', TypeScript: 'javascript', Python: 'javascript' };

  /** The samples of one operation. The language that is chosen in one is chosen in all, and after a reload. */
  function samplesWith(React) {
    var element = React.createElement;
    return function (props) {
      var state = React.useState(localStorage.getItem(LANGUAGE) || 'curl');
      React.useEffect(function () {
        var follow = function () {
          state[1](localStorage.getItem(LANGUAGE));
        };
        window.addEventListener(LANGUAGE, follow);
        return function () {
          window.removeEventListener(LANGUAGE, follow);
        };
      }, []);
      var choose = function (label) {
        localStorage.setItem(LANGUAGE, label);
        window.dispatchEvent(new Event(LANGUAGE));
      };
      var samples = props.samples.toJS();
      var shown = samples.find((sample) => sample.label === state[0]) || samples[0];
      var key = React.useState(uuid)[0];
      var labels = samples.map((sample) => sample.label);
      var tab = function (label) {
        return element(
          'button',
          {
            key: label,
            type: 'button',
            role: 'tab',
            'aria-selected': label === shown.label,
            tabIndex: label === shown.label ? 0 : -1,
            onClick: () => choose(label),
            onKeyDown: function (event) {
              var step = { ArrowRight: 1, ArrowLeft: labels.length - 1 }[event.key];
              if (!step) return;
              var next = (labels.indexOf(label) + step) % labels.length;
              choose(labels[next]);
              event.currentTarget.parentNode.children[next].focus();
            },
          },
          label,
        );
      };
      return element(
        'div',
        { className: 'herald-samples' },
        element(
          'div',
          { className: 'opblock-section-header' },
          element('h4', { className: 'opblock-title' }, 'Samples'),
          element('div', { role: 'tablist', 'aria-label': 'Language' }, labels.map(tab)),
        ),
        element(
          'div',
          { className: 'herald-sample', role: 'tabpanel', 'aria-label': shown.label },
          element(
            props.HighlightCode,
            { language: COLOURS[shown.label], canCopy: true },
            shown.source.split(examples.key).join(key),
          ),
        ),
      );
    };
  }

  function plugin(system) {
    var React = system.React;
    var Samples = samplesWith(React);
    var isError = function (code) {
      return /^[45]/.test(code);
    };
    /** Headers that every answer has stand in the introduction. */
    var ownHeaders = function (answer) {
      var headers = answer.get && answer.get('headers');
      if (!headers) return answer;
      var own = headers.filterNot((_, name) => window.heraldPage.headers.includes(name));
      return own.size > 0 ? answer.set('headers', own) : answer.delete('headers');
    };
    /** The errors of an operation are a line until it is opened: they are long, and alike everywhere. */
    var wrapResponses = function (Original) {
      return function (props) {
        var open = React.useState(false);
        var codes = props.responses.keySeq().filter(isError).toArray();
        var shown = props.responses.filter((_, code) => open[0] || !isError(code)).map(ownHeaders);
        var toggle = function () {
          open[1](!open[0]);
        };
        var samples = props.specSelectors.specJson().getIn(['paths', props.path, props.method, 'x-codeSamples']);
        var HighlightCode = props.getComponent('HighlightCode', true);
        return React.createElement(
          'div',
          null,
          samples && React.createElement(Samples, { samples: samples, HighlightCode: HighlightCode }),
          React.createElement(Original, Object.assign({}, props, { responses: shown })),
          codes.length > 0 &&
            React.createElement(
              'div',
              { className: 'responses-inner' },
              React.createElement(
                'button',
                { className: 'herald-errors', type: 'button', 'aria-expanded': open[0], onClick: toggle },
                (open[0] ? '▾ Hide errors: ' : '▸ Show errors: ') + codes.join(', '),
              ),
            ),
        );
      };
    };
    /** Swagger UI's own search leaves the webhooks as they are. */
    var searchWebhooks = function (Original, live) {
      return function (props) {
        var select = function () {
          var all = props.specSelectors.selectWebhooksOperations();
          var phrase = live.getSystem().layoutSelectors.currentFilter();
          if (typeof phrase !== 'string' || phrase === '') return all;
          var matches = searched(phrase, 'Webhooks');
          var kept = {};
          Object.keys(all).forEach(function (name) {
            var operations = all[name].filter(function (one) {
              return matches(one.method, name, one.operation.get('operation'));
            });
            if (operations.length > 0) kept[name] = operations;
          });
          return kept;
        };
        var specSelectors = Object.assign({}, props.specSelectors, { selectWebhooksOperations: select });
        return React.createElement(Original, Object.assign({}, props, { specSelectors: specSelectors }));
      };
    };
    var withPlaceholder = function (Original) {
      return function (props) {
        React.useEffect(function () {
          var search = document.querySelector('.operation-filter-input');
          if (search) search.placeholder = 'Search operations';
        });
        return React.createElement(Original, props);
      };
    };
    return {
      fn: { resolveSubtree: resolveSubtree, opsFilter: opsFilter },
      wrapComponents: {
        responses: wrapResponses,
        FilterContainer: withPlaceholder,
        Webhooks: searchWebhooks,
        JSONSchema202012KeywordType: (Original) => (props) =>
          React.createElement(Original, Object.assign({}, props, { schema: shortType(props.schema) })),
      },
    };
  }

  window.heraldDocs = { request: request, response: response, plugin: plugin, complete: complete };
})();
