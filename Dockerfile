# The two programs of pnagent, in an image of nothing else: static, without a shell, not as
# root. docker build -t pnagent:dev .
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN make build && mkdir /state

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/pnagent /src/pnagent-full /
# The lock with the numbers of nets, and the active alarms: keep it in a volume.
COPY --from=build --chown=65532:65532 /state /var/lib/pnagent
USER 65532:65532
WORKDIR /var/lib/pnagent
EXPOSE 9797/tcp
ENTRYPOINT ["/pnagent"]
CMD ["serve", "--web.listen-address=:9797", "--mib-dir=/var/lib/pnagent"]
