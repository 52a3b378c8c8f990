// load - bring in a package from beside this file. A bare name is looked for
// from the file that says it, and the packages are never in the source tree:
// tests/npm/install copies this file to where they are.
export const load = (name) => import(name);
