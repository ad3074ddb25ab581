declare module "aws4" {
  interface Request {
    service: string;
    region: string;
    method: string;
    host?: string;
    path: string | undefined;
    body: string;
    headers?: Record<string, string | undefined>;
    extraHeadersToIgnore?: Record<string, boolean>;
  }
  interface Identity {
    accessKeyId: string;
    secretAccessKey: string;
    sessionToken?: string | undefined;
  }
  const aws4: { sign(request: Request, identity: Identity): Request };
  export default aws4;
}
