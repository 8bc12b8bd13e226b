import express from 'express';
import { ExactRoutes, type RouterStack } from './exact-routes.js';

const handle = (): undefined => undefined;

function routesOf(
  register: (app: express.Express) => void,
  direct?: ConstructorParameters<typeof ExactRoutes>[1],
): ExactRoutes {
  const app = express();
  app.use(handle); // as Nest's adapter does
  register(app);
  return new ExactRoutes(app.router as unknown as RouterStack, direct);
}

describe('ExactRoutes', () => {
  it('finds a route by method and whole address, and nothing else', () => {
    const routes = routesOf((app) => app.post('/api/v1/messages', handle).get('/api/v1/messages', handle));
    expect(routes.find('POST', '/api/v1/messages')).toMatchObject({ route: { path: '/api/v1/messages' }, handle });
    const others = ['/api/v1/messages/', '/api/v1/Messages', '/api/v1/messages?a=1', '/api/v1', '/'];
    expect(others.map((address) => routes.find('POST', address))).toEqual(others.map(() => undefined));
    expect(routes.find('DELETE', '/api/v1/messages')).toBeUndefined();
  });

  it('leaves paths with parameters to the router, and takes the first of two routes as it does', () => {
    const second = (): undefined => undefined;
    const routes = routesOf((app) => app.get('/a/:id', handle).get('/a/b', handle).get('/a/b', second));
    expect(routes.find('GET', '/a/:id')).toBeUndefined();
    expect(routes.find('GET', '/a/b')).toBeUndefined();
    expect(routesOf((app) => app.get('/a/b', handle).get('/a/b', second)).find('GET', '/a/b')?.handle).toBe(handle);
  });

  it('calls a direct handler in the place of the one that is registered', () => {
    const direct = (): undefined => undefined;
    const routes = routesOf((app) => app.post('/a', handle).get('/a', handle), new Map([['POST /a', direct]]));
    expect(routes.find('POST', '/a')?.handle).toBe(direct);
    expect(routes.find('GET', '/a')?.handle).toBe(handle);
  });

  it('takes no route that is behind middleware', () => {
    const routes = routesOf((app) => app.get('/before', handle).use(handle).get('/behind', handle));
    expect(routes.find('GET', '/before')).toBeDefined();
    expect(routes.find('GET', '/behind')).toBeUndefined();
  });
});
