# linerate's image: two static programs and nothing else. /manager is the operator, /linerate what its pods run.
#
#   docker build --build-arg VERSION=$(git describe --tags --always) -t ghcr.io/linerate-dev/linerate:dev .
#   docker buildx build --platform linux/amd64,linux/arm64 …
#
# hack/image packs the same without Docker.
# By its digest: a tag can be moved. Raise both, and the release workflow's Go with them.
FROM --platform=$BUILDPLATFORM golang:1.26.5@sha256:3aff6657219a4d9c14e27fb1d8976c49c29fddb70ba835014f477e1c70636647 AS build
ARG VERSION=dev
ARG TARGETOS=linux
ARG TARGETARCH
ENV CGO_ENABLED=0
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# grpcnotrace: without it gRPC's trace pages keep the linker from leaving out methods that nobody calls, a fourth of the program.
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false -tags grpcnotrace -ldflags "-s -w -X main.version=$VERSION" -o /out/manager ./cmd/manager
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -buildvcs=false -tags grpcnotrace -ldflags "-s -w -X github.com/linerate-dev/linerate/internal/cli.version=$VERSION" -o /out/linerate ./cmd/linerate

FROM scratch
COPY --from=build /out/manager /manager
COPY --from=build /out/linerate /linerate
USER 65532:65532
ENTRYPOINT ["/linerate"]
