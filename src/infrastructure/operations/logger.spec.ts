import { requestContext, HeraldLogger, type LogSettings } from './logger.js';

function collect(settings: Partial<LogSettings> = {}) {
  const lines: string[] = [];
  const logger = new HeraldLogger(
    { logLevel: 'info', logFormat: 'json', ...settings },
    { write: (line) => void lines.push(line) },
  );
  return { logger, lines, parsed: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

describe('HeraldLogger', () => {
  it('writes one JSON object a line with level, time and context', () => {
    const { logger, lines, parsed } = collect();
    logger.log('ready', 'Bootstrap');
    expect(lines[0]?.endsWith('\n')).toBe(true);
    expect(parsed()[0]).toMatchObject({ level: 'info', msg: 'ready', context: 'Bootstrap' });
    expect(parsed()[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('adds the request id of the request under way', async () => {
    const { logger, parsed } = collect();
    await requestContext.run({ id: 'abc-1' }, async () => {
      await Promise.resolve();
      logger.warn('slow', 'Database');
    });
    logger.warn('slow', 'Database');
    expect(parsed().map((line) => line.request_id)).toEqual(['abc-1', undefined]);
  });

  it('keeps the cause of an error', () => {
    const { logger, parsed } = collect();
    logger.error(new Error('outer', { cause: new Error('inner') }), 'ErrorFilter');
    const err = parsed()[0]?.err as { message: string; stack: string };
    expect(err.message).toContain('outer');
    expect(err.stack).toContain('inner');
  });

  it("takes Nest's way of handing over a stack", () => {
    const { logger, parsed } = collect();
    logger.error('failed', 'Error: x\n    at y', 'Scheduler');
    expect(parsed()[0]).toMatchObject({ msg: 'failed', stack: 'Error: x\n    at y', context: 'Scheduler' });
  });

  it('masks secrets wherever they stand', () => {
    const { logger, lines } = collect();
    logger.log({ msg: 'Bearer hrld_live_0123456789ab_abcdefghijklmnopqrstuvwxyzABCDEF012345' });
    expect(lines[0]).not.toContain('abcdefghijklmnopqrstuvwxyz');
    expect(lines[0]).toContain('hrld_live_0123456789ab_***');
  });

  it('writes the line of an answered request with the id it is given, and masks it', () => {
    const { logger, parsed, lines } = collect();
    const id = 'hrld_live_0123456789ab_abcdefghijklmnopqrstuvwxyzABCDEF012345';
    requestContext.run({ id: 'another' }, () => logger.access({ request_id: id, status: 200, key_id: undefined }));
    expect(parsed()).toMatchObject([{ level: 'info', status: 200, msg: 'request' }]);
    expect(lines[0]).toContain('"request_id":"hrld_live_0123456789ab_***"');
    expect(lines[0]).not.toContain('key_id');
  });

  it('leaves out what is below the level', () => {
    const { logger, lines } = collect({ logLevel: 'warn' });
    logger.log('no');
    logger.debug('no');
    logger.access({ status: 200 });
    expect(lines).toEqual([]);
  });

  it('logs answered requests at info in JSON and at debug in pretty', () => {
    expect(collect({ logFormat: 'json' }).logger.logsAccess).toBe(true);
    expect(collect({ logFormat: 'pretty' }).logger.logsAccess).toBe(false);
    expect(collect({ logFormat: 'pretty', logLevel: 'debug' }).logger.logsAccess).toBe(true);
  });
});
