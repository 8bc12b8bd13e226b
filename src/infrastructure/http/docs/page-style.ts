/** What Swagger UI's own style lacks: pictures and tables that fit a phone, and room for the words. */
export const PAGE_STYLE = `
.swagger-ui .topbar { display: none; }
.swagger-ui .info { margin: 24px 0; }
.swagger-ui .info .title small pre, .swagger-ui .info .title small { vertical-align: middle; }
.swagger-ui .markdown img { max-width: 100%; height: auto; border: 1px solid #d0d7de; border-radius: 8px; }
.swagger-ui .markdown table { display: block; max-width: 100%; overflow-x: auto; }
.swagger-ui .markdown code { overflow-wrap: anywhere; }
.swagger-ui .info, .swagger-ui .opblock-description-wrapper, .swagger-ui .response-col_description { overflow-wrap: anywhere; }
.swagger-ui .response-col_description .markdown ul { margin: 0; padding-left: 18px; }
.swagger-ui .response-col_description .markdown li { margin: 2px 0; }
/* Every answer bears the same headers: they are shown where it succeeds, and where they say how long to wait. */
.swagger-ui tr.response:not([data-code^='2']):not([data-code='429']) .headers-wrapper { display: none; }
#herald-demo { padding: 10px 14px; border-radius: 6px; background: #dafbe1; color: #1a3d24; max-width: 60rem; }
html.dark-mode #herald-demo { background: #033a16; color: #d7f5de; }
@media (max-width: 640px) {
  .swagger-ui .wrapper { padding: 0 10px; }
  .swagger-ui .info .title { font-size: 26px; }
  .swagger-ui .opblock-tag { flex-wrap: wrap; font-size: 20px; }
  .swagger-ui .opblock-tag small { flex: 1 0 100%; padding: 4px 0; }
  .swagger-ui .opblock .opblock-summary { flex-wrap: wrap; }
  .swagger-ui .opblock .opblock-summary-method { min-width: 60px; padding: 5px 0; font-size: 12px; }
  .swagger-ui .opblock .opblock-summary-path { font-size: 13px; max-width: 100%; }
  .swagger-ui .opblock .opblock-summary-description { font-size: 12px; }
  .swagger-ui table.parameters, .swagger-ui table.responses-table,
  .swagger-ui table.parameters > tbody, .swagger-ui table.responses-table > tbody,
  .swagger-ui table.parameters > tbody > tr, .swagger-ui table.responses-table > tbody > tr,
  .swagger-ui table.parameters > tbody > tr > td, .swagger-ui table.responses-table > tbody > tr > td { display: block; width: 100%; }
  .swagger-ui table.parameters > thead, .swagger-ui table.responses-table > thead { display: none; }
  .swagger-ui .opblock-body pre.microlight, .swagger-ui .highlight-code { font-size: 11px; max-width: calc(100vw - 60px); overflow-x: auto; }
  .swagger-ui .parameters-col_description input, .swagger-ui .parameters-col_description select { max-width: 100%; width: 100%; }
  .swagger-ui .scheme-container .schemes { flex-wrap: wrap; }
}
`;
