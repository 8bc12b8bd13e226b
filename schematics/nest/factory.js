import { externalSchematic } from '@angular-devkit/schematics';

/** A generator of Nest, whose path begins below src/modules unless it names another folder of src. */
const inModules = (schematic) => (options) => (tree) => {
  const [first] = options.name.split('/');
  const isFolder = tree.getDir('src').subdirs.includes(first) || first === 'src';
  const name = isFolder || options.name.startsWith('.') ? options.name : `modules/${options.name}`;
  return externalSchematic('@nestjs/schematics', schematic, { ...options, name });
};

export const classFile = inModules('class');
export const controller = inModules('controller');
export const decorator = inModules('decorator');
export const filter = inModules('filter');
export const gateway = inModules('gateway');
export const guard = inModules('guard');
export const interceptor = inModules('interceptor');
export const interfaceFile = inModules('interface');
export const middleware = inModules('middleware');
export const moduleFile = inModules('module');
export const pipe = inModules('pipe');
export const provider = inModules('provider');
export const resolver = inModules('resolver');
export const service = inModules('service');
