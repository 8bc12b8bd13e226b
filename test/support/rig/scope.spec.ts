import { Scope } from './scope.js';

describe('Scope', () => {
  it('gives back in the opposite order, children where they were opened', async () => {
    const scope = new Scope();
    const gone: string[] = [];
    scope.defer(() => void gone.push('server'));
    const child = scope.child();
    scope.defer(() => void gone.push('last'));
    child.defer(() => void gone.push('database'));
    await scope.close();
    expect(gone).toEqual(['last', 'database', 'server']);
  });

  it('gives back once, however often it is closed', async () => {
    const scope = new Scope();
    let times = 0;
    scope.defer(() => void times++);
    await Promise.all([scope.close(), scope.close()]);
    await scope.close();
    expect(times).toBe(1);
  });

  it('gives back what is taken while it closes, and throws at the taker', async () => {
    const scope = new Scope();
    const gone: string[] = [];
    scope.defer(() => new Promise(setImmediate));
    const closing = scope.close();
    expect(() => scope.defer(() => void gone.push('late'))).toThrow('stopped');
    await closing;
    await scope.close();
    expect(gone).toEqual(['late']);
  });

  it('closes the scope of work that failed', async () => {
    const scope = new Scope();
    const gone: string[] = [];
    const work = scope.within((inner) => {
      inner.defer(() => void gone.push('inner'));
      return Promise.reject(new Error('broken'));
    });
    await expect(work).rejects.toThrow('broken');
    expect(gone).toEqual(['inner']);
  });
});
