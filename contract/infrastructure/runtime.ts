/** Major version of Node.js in which the functions run. `.nvmrc` has it too, for developers. */
export const nodeVersion = 24;
