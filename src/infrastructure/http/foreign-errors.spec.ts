import { toAppError } from './foreign-errors.js';

function fault(code: string): Error {
  return Object.assign(new Error('the driver says something'), { code });
}

describe('toAppError', () => {
  it.each([
    ['cannot be reached', 'ECONNREFUSED'],
    ['was shut down', '57P01'],
    ['has no room', '53100'],
    ['was too slow', '57014'],
    ['cannot read its disk', '58030'],
    ['is not the primary', '25006'],
    ['met a deadlock', '40P01'],
  ])('asks the caller to come back where the database %s', (_, code) => {
    expect(toAppError(fault(code))).toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 });
    expect(toAppError({ driverError: fault(code) })).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('calls anything else a fault of its own', () => {
    expect(toAppError(fault('42601'))).toMatchObject({ code: 'INTERNAL_ERROR', status: 500 });
    expect(toAppError(null)).toMatchObject({ code: 'INTERNAL_ERROR' });
  });
});
